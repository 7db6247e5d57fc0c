#include "apps/address.h"

#include "apps/head.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

int app_domain_parse(const char *option, const char *host, struct app_domain *out, struct error *err)
{
    bool has_scheme = option && (strncmp(option, "http://", 7) == 0 || strncmp(option, "https://", 8) == 0);
    const char *name = !option ? host : has_scheme ? strstr(option, "://") + 3 : option;
    bool is_star = strncmp(name, "*.", 2) == 0;
    const char *rest = is_star ? name + 1 : name;
    bool is_local = option && !has_scheme && strcmp(rest, ".localhost") == 0;
    if (strlen(rest) < 2 || strlen(rest) > APP_DOMAIN_SIZE - 32 ||
        rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789.-:")] != '\0')
        return error_set(err, ERROR_INVALID, "--apps-domain: expected *.DOMAIN or https://HOST, got %.100s", option);
    out->is_host_each = is_star;
    out->is_https = has_scheme ? strncmp(option, "https", 5) == 0 : option && !is_local;
    const char *port = is_local ? strrchr(host, ':') : NULL;
    snprintf(out->scheme_host, sizeof(out->scheme_host), "%s%s", rest, port ? port : "");
    return 0;
}

// ID, a separator and PORT at text; false where it is anything else. *out_length: what it took.
static bool read_place(const char *text, size_t length, char separator, struct app_place *out, size_t *out_length)
{
    size_t id = APP_ID_SIZE - 1, at = id + 1;
    uint32_t port = 0;
    if (length < id + 2 || text[id] != separator)
        return false;
    for (size_t i = 0; i < id; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text[i] != '-' : !((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    }
    if (text[at] < '1' || text[at] > '9')
        return false;
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
        if ((port = port * 10 + (uint32_t)(text[at] - '0')) > UINT16_MAX)
            return false;
    memcpy(out->workload, text, id);
    out->workload[id] = '\0';
    out->port = (uint16_t)port;
    *out_length = at;
    return true;
}

bool app_place_of(const struct app_domain *domain, const struct head *head, struct app_place *out)
{
    struct head_text at = domain->is_host_each ? head->host : head->target;
    const char *begin = domain->is_host_each ? "w-" : APP_PATH_BEGIN;
    size_t skip = strlen(begin), length;
    if (at.length < skip || memcmp(at.data, begin, skip) != 0)
        return false;
    at = (struct head_text){at.data + skip, at.length - skip};
    if (!read_place(at.data, at.length, domain->is_host_each ? '-' : '/', out, &length))
        return false;
    at = (struct head_text){at.data + length, at.length - length};
    return domain->is_host_each ? head_text_is(at, domain->scheme_host) : at.length > 0 && *at.data == '/';
}

static void write_address(const struct app_domain *domain, const struct app_place *place, const char *path,
                          char out[APP_ADDRESS_SIZE])
{
    const char *scheme = domain->is_https ? "https" : "http";
    if (domain->is_host_each)
        snprintf(out, APP_ADDRESS_SIZE, "%s://w-%s-%u%s%.63s", scheme, place->workload, place->port,
                 domain->scheme_host, path);
    else
        snprintf(out, APP_ADDRESS_SIZE, "%s://%s%.63s", scheme, domain->scheme_host, path);
}

void app_path(const struct app_domain *domain, const struct app_place *place, char out[APP_PATH_SIZE])
{
    if (domain->is_host_each)
        snprintf(out, APP_PATH_SIZE, "/");
    else
        snprintf(out, APP_PATH_SIZE, APP_PATH_BEGIN "%s/%u/", place->workload, place->port);
}

void app_address(const struct app_domain *domain, const struct app_place *place, char out[APP_ADDRESS_SIZE])
{
    char path[APP_PATH_SIZE];
    app_path(domain, place, path);
    write_address(domain, place, path, out);
}

void app_sign_in_address(const struct app_domain *domain, const struct app_place *place, char out[APP_ADDRESS_SIZE])
{
    write_address(domain, place, APP_SIGN_IN_PATH, out);
}
