// What a person reads where a pod's server cannot answer: small pages in words, without scripts.
#pragma once

struct app_pass; // apps/passes.h
struct buffer;

struct app_page {
    int status;
    const char *title, *sentence; // any text
    int reload_s;                 // 0: it does not reload by itself
};

// Appends a whole answer, after which the connection ends.
void app_page_write(const struct app_page *page, struct buffer *out);
// Asks whether the browser is to be signed in as the code's person; code is one.
void app_page_write_question(const struct app_pass *pass, const char *code, struct buffer *out);
// Sends the browser on with a cookie for path.
void app_page_write_entry(const char *location, const char *path, const char *cookie, int is_secure,
                          struct buffer *out);
