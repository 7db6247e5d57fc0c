// Reads members of a JSON object that came from outside. Every failure names the member's path, as
// `spec.compute.gpuDevicesRequest: at least 0, got -1`. A member that is null counts as absent. The schema has checked
// most requests before; these readers still trust nothing, so that no caller depends on it.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

struct fields {
    json_t *object;   // NULL: an absent object, all of whose members are absent
    const char *path; // of the object; "" at the top
    struct arena *arena;
    struct error *err;
};

// NULL where absent.
json_t *fields_get(const struct fields *fields, const char *key);
// The member's path: "spec.compute".
const char *fields_path(const struct fields *fields, const char *key);
// Sets the error `path: message` with ERROR_INVALID; always -1.
int fields_fail(const struct fields *fields, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Sets a member that is not there; frees the value otherwise. A member that is null is there: fields_drop_nulls first.
void fields_set_default(const struct fields *fields, const char *key, json_t *stolen_value);
// Takes the members away that are null.
void fields_drop_nulls(const struct fields *fields);

// All of these leave *out alone where the member is absent, and fail where it is of another type.
int fields_bool(const struct fields *fields, const char *key, bool *out);
int fields_integer(const struct fields *fields, const char *key, int64_t minimum, int64_t maximum, int64_t *out);
int fields_number(const struct fields *fields, const char *key, double *out);    // at least 0
int fields_text(const struct fields *fields, const char *key, const char **out); // not empty; lives with the object
// One of words, ended by NULL.
int fields_word(const struct fields *fields, const char *key, const char *const *words, const char **out);
// A Kubernetes quantity as text; *out is bytes.
int fields_memory(const struct fields *fields, const char *key, int64_t *out);

// The member as an object; an absent one where it is absent.
int fields_object(const struct fields *fields, const char *key, struct fields *out);
// The number of items of an array, 0 where it is absent; -1 where it is something else or has more than maximum.
int fields_count(const struct fields *fields, const char *key, size_t maximum, size_t *out_count);
// Item i of an array as an object, with the path `key[i]`; a null item counts as an absent object.
int fields_item(const struct fields *fields, const char *key, size_t i, struct fields *out);
// Item i of an array as text.
int fields_item_text(const struct fields *fields, const char *key, size_t i, const char **out);
