// What a write changes, as an audit record tells it: a list of {field, before, after}, without secrets. after is what
// the request says; before is what stood there when the request came. Values whose name speaks of a secret, and those
// of environment variables, commands and arguments, are never in it.
#pragma once
#include <jansson.h>
#include <stdbool.h>

struct buffer;

enum {
    CHANGES_MAX = 64,        // fields; what is more is counted
    CHANGES_VALUE_MAX = 200, // bytes of a value; the rest is cut
    CHANGES_BYTES_MAX = 16 << 10
};

// Appends the list. before may be NULL (a creation), and so may after (a deletion): not both.
void audit_changes_write(const json_t *before, const json_t *after, struct buffer *out);
// Whether a value with this name is a secret.
bool audit_is_secret(const char *name);

// Where an object of the API is, as it says so itself: "project", "department", "cluster" or NULL, and the id as text
// in out_id.
const char *audit_find_scope(const json_t *object, char out_id[40]);
