// Time series in answers: measurements with values as text at evenly spread times,
// as JSON, or as CSV where the caller asks for text/csv. Types of which nothing was ever sampled make the answer a 207.
//
//     struct metrics metrics;
//     if (metrics_init(&metrics, req, res, err) < 0)
//         return -1;
//     for (size_t i = 0; i < metrics.type_count; i++)
//         metrics_add(&metrics, conn, metrics.types[i], &series, NULL, err) ...
//     return metrics_answer(&metrics);
#pragma once
#include "db/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db_conn;
struct error;
struct request;
struct response;

struct metrics_pair {
    const char *key;
    const char *value;
};

struct measurement {
    const char *type;
    struct metrics_pair label; // key NULL: none
    struct metrics_pair group; // key NULL: none; of grouped cluster metrics
    const double *values;      // NAN where nothing is known
};

struct metrics {
    struct request *req;
    struct response *res;
    const char **types; // asked for
    size_t type_count;
    int64_t *times_ms; // numberOfSamples of them, from start to end
    size_t time_count;
    struct measurement *measurements;
    size_t measurement_count, measurement_capacity;
    double factor; // of the values of what is added; 0: 1
    bool is_partial;
};

// Reads start, end, numberOfSamples and metricType. ERROR_INVALID where end is not after start.
int metrics_init(struct metrics *metrics, struct request *req, struct response *res, struct error *err);
// Adds the series of a type: that of its name, or else those of its parts ("TYPE:part"), which get a label: `gpu` for
// types that end in _PER_GPU, `band` for the others. group may be NULL. Without any series the answer is partial.
int metrics_add(struct metrics *metrics, struct db_conn *conn, const char *type, const struct series *series,
                const struct metrics_pair *group, struct error *err);
int metrics_answer(struct metrics *metrics);
