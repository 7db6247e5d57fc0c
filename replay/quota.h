// Quotas: what the departments and projects of a trace deserve, as the lists `departments` and `projects` of a
// snapshot (docs/snapshot.md).
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct nodes;
struct trace;

enum quota_source {
    QUOTA_FILE,      // --quota
    QUOTA_DEMAND,    // all GPUs, in proportion to the GPU time that each project's jobs ask for
    QUOTA_EQUAL,     // all GPUs, the same for each project
    QUOTA_UNLIMITED, // whatever they ask for
    QUOTA_SOURCE_COUNT
};

extern const char *const QUOTA_SOURCE_WORDS[QUOTA_SOURCE_COUNT];

struct quota_file {
    const char *name;
    json_t *document; // {"departments": [...], "projects": [...]}; NULL: there is no file
};

// A YAML or JSON document with these lists, or CSV with the columns kind, name, gpus, limit, weight, rank.
int quota_read_file(const char *path, struct quota_file *out_file, struct error *err);
void quota_done(struct quota_file *file);

// How capacity_milli, in whole GPUs, is divided between the trace's projects; what rounding leaves goes to the largest
// remainders, then by name. out_milli: by project.
void quota_divide(const struct trace *trace, enum quota_source source, int64_t capacity_milli, struct arena *arena,
                  int64_t *out_milli);
// Puts the two lists into a snapshot's document. One project for all: it is called "all" and has what all have.
int quota_add_queues(const struct trace *trace, enum quota_source source, bool is_one_project,
                     const struct quota_file *file, int64_t capacity_milli, struct arena *arena, json_t *document,
                     struct error *err);
