// A JSON value and where it stands in its document, so that a message can name it: `workloads[3].pods[0].node`.
// Places live on the stack of who reads; the text is made only when something is wrong.
#pragma once
#include <jansson.h>
#include <stddef.h>

struct error;

struct place {
    const json_t *value; // NULL: the key is not there
    const struct place *parent;
    const char *key; // NULL: an item of a list
    size_t index;
};

struct place place_member(const struct place *object, const char *key);
struct place place_item(const struct place *list, size_t index);

// `path: message` as ERROR_INVALID; -1.
int place_error(const struct place *place, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// `path: what, got value`.
int place_expected(const struct place *place, struct error *err, const char *what);
