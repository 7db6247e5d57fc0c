// Writes JSON text straight into a buffer: for lists and metrics, where a tree of jansson values would cost five times
// as much (docs/architecture.md). Commas and escaping are handled here, in one place; tests compare it with jansson's
// parser. Nesting is bounded by JSON_WRITER_DEPTH (asserted). Compact form; `pretty` indents by two blanks.
#pragma once
#include "base/buffer.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    JSON_WRITER_DEPTH = 48
};

struct json_writer {
    struct buffer *out;
    bool pretty;
    bool after_key;
    unsigned depth;
    bool has_items[JSON_WRITER_DEPTH];
};

void json_writer_init(struct json_writer *json, struct buffer *out, bool pretty);
void json_begin_object(struct json_writer *json);
void json_end_object(struct json_writer *json);
void json_begin_array(struct json_writer *json);
void json_end_array(struct json_writer *json);
void json_key(struct json_writer *json, const char *key);
void json_value_text(struct json_writer *json, const char *text); // NULL writes null; bad UTF-8 becomes U+FFFD
void json_value_int(struct json_writer *json, int64_t value);
void json_value_real(struct json_writer *json, double value); // 15 digits; not finite writes null
// An exact decimal of thousandths: 500 -> 0.5, 2000 -> 2.
void json_value_milli(struct json_writer *json, int64_t milli);
void json_value_bool(struct json_writer *json, bool value);
void json_value_null(struct json_writer *json);
void json_value_time(struct json_writer *json, int64_t time_ms); // 0 writes null, else ISO 8601 text
// Text that is JSON already (a stored column); NULL or "" writes null.
void json_value_raw(struct json_writer *json, const char *json_text);

// Key and value in one line.
void json_text(struct json_writer *json, const char *key, const char *text);
void json_int(struct json_writer *json, const char *key, int64_t value);
void json_number(struct json_writer *json, const char *key, double value);
void json_milli(struct json_writer *json, const char *key, int64_t milli);
void json_bool(struct json_writer *json, const char *key, bool value);
void json_null_at(struct json_writer *json, const char *key);
void json_time(struct json_writer *json, const char *key, int64_t time_ms);
void json_raw(struct json_writer *json, const char *key, const char *json_text);
// Members of the open object that are text already, without braces: "a":1,"b":[]. Not indented.
void json_members(struct json_writer *json, const char *members);
