#include "apps/entry.h"

#include "apps/app_pages.h"
#include "base/buffer.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum {
    RELOAD_SECONDS = 3
};

static const struct app_page UNKNOWN = {
    404, "There is nothing here",
    "This address is of no workload. Connect in the dashboard has the right one, and "
    "so has prorata open NAME.",
    0};
static const struct app_page MISDIRECTED = {421, "There is nothing here", "This server does not answer for that host.",
                                            0};
static const struct app_page NO_PASS = {
    401, "Sign in first",
    "This browser may not open this workload, or not any more. Press Connect in the "
    "dashboard, or use prorata open NAME.",
    0};
static const struct app_page USED_CODE = {
    401, "This link is used up",
    "It was good once and for half a minute. Press Connect in the dashboard again, "
    "or use prorata open NAME.",
    0};
static const struct app_page FOREIGN = {403, "Refused", "A page of another origin asked for this.", 0};
static const struct app_page NO_WORKER = {
    403, "Refused", "Service workers need a host name for each workload: --apps-domain '*.DOMAIN'.", 0};

static const struct head_field *find_field(const struct head *head, const char *name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (head_text_is_word(head->fields[i].name, name))
            return &head->fields[i];
    return NULL;
}

// Whether the request's origin is the one that it goes to.
static bool is_own_origin(const struct entry_desk *desk, const struct head *head)
{
    const char *scheme = desk->domain.is_https ? "https://" : "http://";
    size_t skip = strlen(scheme);
    return head->origin.length == skip + head->host.length && memcmp(head->origin.data, scheme, skip) == 0 &&
           memcmp(head->origin.data + skip, head->host.data, head->host.length) == 0;
}

// Another origin may lead a browser here, as a link does, and do no more. A sibling's page is a foreign one, although
// its requests bring cookies.
static bool is_foreign(const struct entry_desk *desk, const struct head *head)
{
    const struct head_field *site = find_field(head, "Sec-Fetch-Site"), *mode = find_field(head, "Sec-Fetch-Mode");
    if (head->origin.data || head->is_websocket)
        return !is_own_origin(desk, head);
    if (!site || head_text_is(site->value, "none") || head_text_is(site->value, "same-origin"))
        return false;
    return !mode || !head_text_is(mode->value, "navigate") || !head_text_is(head->method, "GET");
}

// The code in the target of the sign-in; length 0: it is another path.
static struct head_text code_of(const struct head *head)
{
    static const char BEGIN[] = APP_SIGN_IN_PATH "?code=";
    size_t skip = strlen(BEGIN);
    if (head->target.length <= skip || memcmp(head->target.data, BEGIN, skip) != 0)
        return (struct head_text){0};
    return (struct head_text){head->target.data + skip, head->target.length - skip};
}

// Where all workloads share an origin, a page of somebody else's must not be shown in this browser: a link alone signs
// nobody in, the person says that it is them.
static void sign_in(const struct entry_desk *desk, const struct head *head, struct head_text code,
                    const struct app_place *place, int64_t now_us, struct buffer *out)
{
    struct app_pass pass;
    char cookie[PASS_TEXT_SIZE], path[APP_PATH_SIZE], text[PASS_TEXT_SIZE];
    bool is_post = head_text_is(head->method, "POST");
    if (!is_post && !head_text_is(head->method, "GET")) {
        app_page_write(&UNKNOWN, out);
    } else if (is_post && (desk->domain.is_host_each || !is_own_origin(desk, head))) {
        app_page_write(&FOREIGN, out);
    } else if (!desk->domain.is_host_each && !is_post) {
        if (!passes_peek(desk->passes, code.data, code.length, now_us, &pass)) {
            app_page_write(&USED_CODE, out);
            return;
        }
        snprintf(text, sizeof(text), "%.*s", (int)code.length, code.data);
        app_page_write_question(&pass, text, out);
    } else if (passes_redeem(desk->passes, code.data, code.length, place, now_us, &pass, cookie)) {
        app_path(&desk->domain, &pass.place, path);
        app_page_write_entry(path, path, cookie, desk->domain.is_https, out);
    } else {
        app_page_write(&USED_CODE, out);
    }
}

bool entry_decide(const struct entry_desk *desk, const struct head *head, int64_t now_us, struct app_pass *out_pass,
                  int *out_number, struct buffer *out)
{
    struct app_place place;
    bool has_place = app_place_of(&desk->domain, head, &place);
    struct head_text code = code_of(head);
    if (desk->domain.is_host_each && !has_place) {
        app_page_write(&MISDIRECTED, out);
        return false;
    }
    if (code.length) {
        sign_in(desk, head, code, has_place ? &place : NULL, now_us, out);
        return false;
    }
    if (!has_place) {
        app_page_write(&UNKNOWN, out);
        return false;
    }
    if (is_foreign(desk, head)) {
        app_page_write(&FOREIGN, out);
        return false;
    }
    if (!desk->domain.is_host_each && head->is_script_of_worker) {
        app_page_write(&NO_WORKER, out);
        return false;
    }
    struct head_text cookie = head_app_cookie(head);
    *out_number = passes_hold(desk->passes, cookie.data, cookie.length, &place, now_us, out_pass);
    if (*out_number < 0)
        app_page_write(&NO_PASS, out);
    return *out_number >= 0;
}

void entry_write_error(const struct error *error, bool is_of_port, struct buffer *out)
{
    if (!is_of_port) {
        int status = error->code == ERROR_TOO_LARGE ? 411 : error_status(error->code);
        app_page_write(&(struct app_page){status, "This request is not passed on", error->message, 0}, out);
    } else if (error->code == ERROR_UNAUTHORIZED) {
        app_page_write(&NO_PASS, out);
    } else if (error->code == ERROR_FORBIDDEN || error->code == ERROR_NOT_FOUND) {
        app_page_write(&(struct app_page){error_status(error->code), "You may not open this", error->message, 0}, out);
    } else if (error->code == ERROR_INTERNAL) {
        app_page_write(&(struct app_page){503, "It does not answer", "The server's log says why.", RELOAD_SECONDS},
                       out);
    } else {
        app_page_write(&(struct app_page){503, "It does not answer yet", error->message, RELOAD_SECONDS}, out);
    }
}
