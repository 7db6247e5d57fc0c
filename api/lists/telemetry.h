// Telemetry: one present number, in all or for each group. Amounts are added up
// under at most two groups; the answer is JSON, or CSV where the caller asks for text/csv.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct request;
struct response;

enum {
    TELEMETRY_GROUP_MAX = 2
};

struct telemetry_group {
    const char *key;   // as asked for in groupBy
    const char *value; // id
    const char *name;
};

struct telemetry_value {
    struct telemetry_group groups[TELEMETRY_GROUP_MAX];
    double value;
    size_t known_count, unknown_count; // amounts that were added
};

struct telemetry {
    struct arena *arena;
    const char **group_keys; // the request's groupBy
    size_t group_count;
    struct telemetry_value *values;
    size_t count;
    size_t capacity;
};

// Reads groupBy. Without it there is one value, 0 at first.
void telemetry_init(struct telemetry *telemetry, const struct request *req);
// Adds an amount to the value of its groups; groups[i] belongs to group_keys[i]. NAN: nobody measures it. A value of
// which nothing is measured is left out of the answer.
void telemetry_add(struct telemetry *telemetry, const struct telemetry_group groups[TELEMETRY_GROUP_MAX],
                   double amount);
int telemetry_answer(const struct telemetry *telemetry, const struct request *req, struct response *res);
