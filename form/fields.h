// Reads a JSON object by a table of its keys: what is not in the table is an error, so is a wrong type or a number
// outside its bounds. Every message starts with the path of the value.
#pragma once
#include "form/place.h"

#include <stdint.h>

struct reader; // reader.h

enum field_flag {
    FIELD_REQUIRED = 1,   // an error where the key is missing
    FIELD_NULL = 2,       // null is as if the key were left out
    FIELD_READS_NULL = 4, // null has a meaning of its own: read gets it
};

// Reads a value into target, which stands at field->offset of the object's struct. -1 with err set.
typedef int (*field_reader)(struct reader *reader, const struct place *place, void *target, struct error *err);

struct field {
    const char *key;
    field_reader read; // NULL: the key is known; who reads the object looks at it itself
    size_t offset;
    unsigned flags; // of enum field_flag
};

// Reads the object at place into target; keys that are left out leave their target as it is.
int fields_read(struct reader *reader, const struct place *object, const struct field *fields, size_t count,
                void *target, struct error *err);
// Checks that there is a list at place; reads each item into an array of items of item_size bytes in the reader's
// arena. No value at place: an empty list.
int fields_read_list(struct reader *reader, const struct place *list, size_t item_size, field_reader read_item,
                     void **out_items, size_t *out_count, struct error *err);

// A whole number; one written with a fraction of zero (2.0, 1e9) counts as whole.
int read_whole(const struct place *place, int64_t minimum, int64_t maximum, int64_t *out_value, struct error *err);
// number * scale as a whole number; `finest` names the step ("0.01") that may not be undercut.
int read_exact(const struct place *place, int64_t scale, const char *finest, int64_t maximum, int64_t *out_value,
               struct error *err);
// number * scale to the nearest whole number; what is not 0 does not become 0.
int read_rounded(const struct place *place, int64_t scale, int64_t maximum, int64_t *out_value, struct error *err);
// One of count words; the index of the word.
int read_word(const struct place *place, const char *const *words, size_t count, size_t *out_index, struct error *err);

// Field readers; the comment names the target's type.
int read_name(struct reader *reader, const struct place *place, void *target,
              struct error *err); // const char *: not ""
int read_text(struct reader *reader, const struct place *place, void *target, struct error *err);    // const char *
int read_bool(struct reader *reader, const struct place *place, void *target, struct error *err);    // bool
int read_count(struct reader *reader, const struct place *place, void *target, struct error *err);   // uint32_t
int read_integer(struct reader *reader, const struct place *place, void *target, struct error *err); // int64_t, any
int read_time(struct reader *reader, const struct place *place, void *target, struct error *err);    // int64_t ms
int read_seconds(struct reader *reader, const struct place *place, void *target, struct error *err); // int64_t ms >= 0
int read_grace(struct reader *reader, const struct place *place, void *target, struct error *err); // the same, any sign
int read_mib(struct reader *reader, const struct place *place, void *target, struct error *err);   // int64_t
int read_bytes(struct reader *reader, const struct place *place, void *target, struct error *err); // int64_t
int read_cores(struct reader *reader, const struct place *place, void *target, struct error *err); // int64_t millicores
