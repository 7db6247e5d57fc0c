// A browser's request head through the reader of apps/: what it lets through is one head to every other reader, and has
// nothing of ours.
#include "apps/address.h"
#include "apps/head.h"
#include "base/buffer.h"
#include "base/error.h"
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const struct head *head)
{
    static const struct head_forward FORWARD = {"ann@example.org", "127.0.0.1", "http"};
    struct buffer out;
    static struct head again; // large for a stack
    struct error err = {0};
    int users = 0;
    buffer_init(&out, 0);
    head_write(head, &FORWARD, &out);
    assert(head_length(out.data, out.length) == out.length);
    if (out.length <= HEAD_BYTES_MAX && head->field_count < HEAD_FIELDS_MAX - 8) {
        assert(head_parse(out.data, out.length, &again, &err) == 0);
        assert(again.body_bytes == head->body_bytes && again.is_websocket == head->is_websocket);
        assert(head_app_cookie(&again).length == 0);
        for (size_t i = 0; i < again.field_count; i++)
            users += head_text_is_word(again.fields[i].name, "X-Forwarded-User");
        assert(users == 1);
    }
    buffer_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct head head; // large for a stack
    struct error err = {0};
    struct app_domain domain;
    struct app_place place;
    const char *text = (const char *)data;
    size_t length = head_length(text, size);
    if (length == 0 || head_parse(text, length, &head, &err) < 0)
        return 0;
    assert(head.body_bytes >= 0 && head.field_count <= HEAD_FIELDS_MAX);
    static const char *const DOMAINS[] = {NULL, "*.localhost"};
    for (size_t i = 0; i < 2; i++) {
        assert(app_domain_parse(DOMAINS[i], "127.0.0.1:1", &domain, &err) == 0);
        if (app_place_of(&domain, &head, &place))
            assert(strlen(place.workload) == APP_ID_SIZE - 1 && place.port > 0);
    }
    check_written(&head);
    return 0;
}
