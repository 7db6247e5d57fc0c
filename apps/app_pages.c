#include "apps/app_pages.h"

#include "apps/head.h"
#include "apps/passes.h"
#include "base/buffer.h"

static const char *reason_of(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 411:
        return "Length Required";
    case 421:
        return "Misdirected Request";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    default:
        return "Bad Request";
    }
}

static void append_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            buffer_text(out, "&lt;");
        else if (*text == '>')
            buffer_text(out, "&gt;");
        else if (*text == '&')
            buffer_text(out, "&amp;");
        else if (*text == '"')
            buffer_text(out, "&quot;");
        else
            buffer_char(out, *text);
    }
}

static void begin_body(struct buffer *body, const char *title, const char *sentence)
{
    buffer_init(body, 0);
    buffer_text(body, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>");
    append_escaped(body, title);
    buffer_text(body, "</title><style>body{font:1rem/1.5 system-ui;max-width:40rem;margin:15vh auto;padding:0 1rem}"
                      "</style><h1>");
    append_escaped(body, title);
    buffer_text(body, "</h1><p>");
    append_escaped(body, sentence);
    buffer_text(body, "</p>");
}

// strict-origin: with no-referrer a browser names no origin in the question's POST, which is then refused.
static void end_body(struct buffer *body, int status, int reload_s, struct buffer *out)
{
    buffer_printf(out,
                  "HTTP/1.1 %d %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
                  "Cache-Control: no-store\r\nReferrer-Policy: strict-origin\r\nX-Content-Type-Options: nosniff\r\n"
                  "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
                  "frame-ancestors 'none'; base-uri 'none'\r\nConnection: close\r\n",
                  status, reason_of(status), body->length);
    if (reload_s)
        buffer_printf(out, "Refresh: %d\r\nRetry-After: %d\r\n", reload_s, reload_s);
    buffer_text(out, "\r\n");
    buffer_append(out, body->data, body->length);
    buffer_done(body);
}

void app_page_write(const struct app_page *page, struct buffer *out)
{
    struct buffer body;
    begin_body(&body, page->title, page->sentence);
    end_body(&body, page->status, page->reload_s, out);
}

void app_page_write_question(const struct app_pass *pass, const char *code, struct buffer *out)
{
    struct buffer body, sentence;
    buffer_init(&sentence, 0);
    buffer_printf(&sentence, "This browser opens port %u of workload %s as %s. Go on only if that is you.",
                  pass->place.port, pass->place.workload, pass->holder.name);
    begin_body(&body, "Open a workload", sentence.data);
    buffer_done(&sentence);
    buffer_printf(&body, "<form method=\"post\" action=\"%s?code=", APP_SIGN_IN_PATH);
    append_escaped(&body, code);
    buffer_text(&body, "\"><button autofocus>Open it</button></form>");
    end_body(&body, 200, 0, out);
}

void app_page_write_entry(const char *location, const char *path, const char *cookie, int is_secure, struct buffer *out)
{
    buffer_printf(out,
                  "HTTP/1.1 303 See Other\r\nLocation: %s\r\nSet-Cookie: %s=%s; Path=%s; HttpOnly; SameSite=Lax%s\r\n"
                  "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Length: 0\r\n"
                  "Connection: close\r\n\r\n",
                  location, HEAD_APP_COOKIE, cookie, path, is_secure ? "; Secure" : "");
}
