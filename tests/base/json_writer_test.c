// What the writer writes, jansson reads back as the same value.
#include "base/json_writer.h"
#include "tests/support/check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const TEXTS[] = {
    "",         "plain",        "a \"quote\" and a \\",      "line\nbreak\ttab\r", "\x01\x1f",
    "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80 and more", "</script>",          "null",
};

static const char *const BAD_UTF8[] = {"\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF8\x88\x80\x80", "ok\xE2\x82"};

static json_t *round_trip(struct buffer *buffer)
{
    json_error_t why;
    json_t *json = json_loads(buffer->data, JSON_DECODE_ANY, &why);
    check_true(json != NULL, "%s: %s", buffer->data, why.text);
    return json;
}

static void check_texts(void)
{
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        struct buffer buffer;
        struct json_writer writer;
        buffer_init(&buffer, 0);
        json_writer_init(&writer, &buffer, false);
        json_value_text(&writer, TEXTS[i]);
        json_t *json = round_trip(&buffer);
        check_text(json_string_value(json), TEXTS[i], "text %zu", i);
        json_decref(json);
        buffer_done(&buffer);
    }
    for (size_t i = 0; i < COUNT(BAD_UTF8); i++) {
        struct buffer buffer;
        struct json_writer writer;
        buffer_init(&buffer, 0);
        json_writer_init(&writer, &buffer, false);
        json_value_text(&writer, BAD_UTF8[i]);
        json_t *json = round_trip(&buffer);
        check_true(strstr(json_string_value(json), "\xEF\xBF\xBD") != NULL, "bad UTF-8 %zu is replaced", i);
        json_decref(json);
        buffer_done(&buffer);
    }
}

static void check_document(bool pretty)
{
    struct buffer buffer;
    struct json_writer json;
    buffer_init(&buffer, 0);
    json_writer_init(&json, &buffer, pretty);
    json_begin_object(&json);
    json_int(&json, "int", INT64_MIN);
    json_number(&json, "real", 0.1);
    json_number(&json, "nan", NAN);
    json_milli(&json, "milli", 1250);
    json_milli(&json, "whole", -3000);
    json_bool(&json, "yes", true);
    json_null_at(&json, "nothing");
    json_time(&json, "time", 1641008992531);
    json_time(&json, "never", 0);
    json_raw(&json, "raw", "[1,2]");
    json_raw(&json, "none", NULL);
    json_key(&json, "list");
    json_begin_array(&json);
    json_begin_object(&json);
    json_end_object(&json);
    json_begin_array(&json);
    json_end_array(&json);
    json_end_array(&json);
    json_end_object(&json);
    json_t *got = round_trip(&buffer);
    json_t *want = json_pack("{s:I, s:f, s:n, s:f, s:i, s:b, s:n, s:s, s:n, s:[ii], s:n, s:[{}[]]}", "int",
                             (json_int_t)INT64_MIN, "real", 0.1, "nan", "milli", 1.25, "whole", -3, "yes", 1, "nothing",
                             "time", "2022-01-01T03:49:52.531Z", "never", "raw", 1, 2, "none", "list");
    check_true(json_equal(got, want), "the document reads back (pretty %d): %s", pretty, buffer.data);
    json_decref(got);
    json_decref(want);
    buffer_done(&buffer);
}

int main(void)
{
    check_texts();
    check_document(false);
    check_document(true);
    struct buffer small;
    buffer_init(&small, 8);
    buffer_text(&small, "12345678");
    check_true(!small.overflow, "exactly the maximum");
    buffer_char(&small, '9');
    check_true(small.overflow && small.length == 8, "one more is dropped and noted");
    buffer_done(&small);
    return check_finish();
}
