#include "backends/kubernetes/client/kube_access.h"

#include "backends/kubernetes/config/kube_config.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
    CONNECT_MS = 5000,
    IDLE_S = 60,  // the server closes after 90 s
    LIFE_S = 600, // so that several servers behind one address share us
    TOKEN_HEADER_MAX = 64 * 1024
};

struct kube_access {
    struct kube_config *config;
    struct kube_credentials *credentials;
    char *base;       // scheme, host, port and path
    char *connect_to; // where the name in the certificate is another than the host's; NULL
    char agent[128];
    bool is_https;
};

static char *part_of(CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    return curl_url_get(url, part, &text, flags) == CURLUE_OK ? text : NULL;
}

// Puts the name of the certificate into the address, and maps it back to the host.
static int rename_host(struct kube_access *access, CURLU *url)
{
    char *host = part_of(url, CURLUPART_HOST, 0), *port = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    const char *name = access->config->tls_server_name;
    int rc = -1;
    if (host && port && asprintf(&access->connect_to, "%s:%s:%s:%s", name, port, host, port) >= 0)
        rc = curl_url_set(url, CURLUPART_HOST, name, 0) == CURLUE_OK ? 0 : -1;
    curl_free(host);
    curl_free(port);
    return rc;
}

static int read_address(struct kube_access *access, struct error *err)
{
    CURLU *url = curl_url();
    int rc = url && curl_url_set(url, CURLUPART_URL, access->config->server, 0) == CURLUE_OK ? 0 : -1;
    if (rc == 0 && *access->config->tls_server_name)
        rc = rename_host(access, url);
    char *whole = rc == 0 ? part_of(url, CURLUPART_URL, 0) : NULL;
    if (whole) {
        access->base = memory_strdup(whole);
        for (size_t length = strlen(access->base); length > 0 && access->base[length - 1] == '/'; length--)
            access->base[length - 1] = '\0';
        access->is_https = strncmp(whole, "https:", 6) == 0;
    }
    curl_free(whole);
    curl_url_cleanup(url);
    return whole ? 0 : error_set(err, ERROR_INVALID, "%s: not an address", access->config->server);
}

int kube_access_create(struct kube_config *config, struct kube_access **out_access, struct error *err)
{
    struct kube_access *access = memory_array(1, sizeof(*access));
    struct utsname system = {0};
    access->config = config;
    access->credentials = kube_credentials_create(config);
    uname(&system);
    snprintf(access->agent, sizeof(access->agent), "prorata/%s (%.20s/%.20s) kubernetes/none", PRORATA_VERSION,
             *system.sysname == 'L' ? "linux" : system.sysname, system.machine);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || read_address(access, err) < 0) {
        kube_access_destroy(access);
        return -1;
    }
    *out_access = access;
    return 0;
}

void kube_access_destroy(struct kube_access *access)
{
    if (!access)
        return;
    kube_credentials_destroy(access->credentials);
    kube_config_destroy(access->config);
    free(access->base);
    free(access->connect_to);
    free(access);
}

const struct kube_config *kube_access_config(const struct kube_access *access)
{
    return access->config;
}

void kube_access_refuse(struct kube_access *access, int64_t generation)
{
    kube_credentials_refuse(access->credentials, generation);
}

static void set_blob(CURL *easy, CURLoption option, const char *text)
{
    struct curl_blob blob = {.data = (void *)text, .len = text ? strlen(text) : 0, .flags = CURL_BLOB_COPY};
    if (text)
        curl_easy_setopt(easy, option, &blob);
}

static void set_trust(CURL *easy, const struct kube_credential *credential)
{
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (credential->ca_pem) {
        set_blob(easy, CURLOPT_CAINFO_BLOB, credential->ca_pem);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); // no other authority beside it
    }
    set_blob(easy, CURLOPT_SSLCERT_BLOB, credential->certificate_pem);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, credential->key_pem);
}

static void set_way(CURL *easy, const struct kube_access *access, struct kube_transfer *transfer)
{
    const struct kube_config *config = access->config;
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, access->is_https ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_S);
    curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, (long)LIFE_S);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, access->agent);
    if (*config->proxy_url)
        curl_easy_setopt(easy, CURLOPT_PROXY, config->proxy_url);
    else if (config->is_in_cluster || !access->is_https)
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    if (access->connect_to) {
        transfer->connect_to = curl_slist_append(NULL, access->connect_to);
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, transfer->connect_to);
    }
}

static void add_header(struct kube_transfer *transfer, const char *name, const char *value)
{
    char *line;
    if (asprintf(&line, "%s: %s", name, value) < 0)
        abort();
    struct curl_slist *longer = curl_slist_append(transfer->headers, line);
    explicit_bzero(line, strlen(line));
    free(line);
    if (!longer)
        abort();
    transfer->headers = longer;
}

static const char *const METHODS[] = {
    [KUBE_GET] = "GET", [KUBE_POST] = "POST", [KUBE_PUT] = "PUT", [KUBE_PATCH] = "PATCH", [KUBE_DELETE] = "DELETE",
};

static void set_request(struct kube_transfer *transfer, const struct kube_access *access, const struct kube_call *call)
{
    CURL *easy = transfer->easy;
    char *url;
    bool has_query = call->query && *call->query;
    if (asprintf(&url, "%s%s%s%s", access->base, call->path, has_query ? "?" : "", has_query ? call->query : "") < 0)
        abort();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    free(url);
    add_header(transfer, "Accept", "application/json");
    if (call->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
        curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, call->body);
        add_header(transfer, "Content-Type", call->content_type ? call->content_type : "application/json");
        transfer->headers = curl_slist_append(transfer->headers, "Expect:");
    }
    if (call->method != KUBE_GET)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, METHODS[call->method]);
}

int kube_transfer_init(struct kube_transfer *transfer, struct kube_access *access, const struct kube_call *call,
                       int64_t timeout_ms, const atomic_bool *stopping, struct error *err)
{
    struct kube_credential credential;
    *transfer = (struct kube_transfer){0};
    if (kube_credentials_get(access->credentials, stopping, &credential, err) < 0)
        return -1;
    CURL *easy = curl_easy_init();
    if (!easy)
        abort();
    *transfer = (struct kube_transfer){.easy = easy, .generation = credential.generation};
    set_way(easy, access, transfer);
    set_trust(easy, &credential);
    set_request(transfer, access, call);
    if (credential.token && strlen(credential.token) < TOKEN_HEADER_MAX) {
        char *value;
        if (asprintf(&value, "Bearer %s", credential.token) < 0)
            abort();
        add_header(transfer, "Authorization", value);
        explicit_bzero(value, strlen(value));
        free(value);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    kube_credential_release(&credential);
    return 0;
}

void kube_transfer_done(struct kube_transfer *transfer)
{
    if (transfer->easy)
        curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    curl_slist_free_all(transfer->connect_to);
    *transfer = (struct kube_transfer){0};
}
