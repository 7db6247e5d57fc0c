#include "form/snapshot_reader.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "form/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A cluster of 100,000 pods takes some 60 MB.
enum {
    FILE_MAXIMUM = 1 << 30
};

static const struct field DOCUMENT_FIELDS[] = {
    {"version", NULL, 0, FIELD_REQUIRED},
    {"now", NULL, 0, FIELD_REQUIRED},
    {"actions", NULL, 0, 0},
    {"settings", NULL, 0, 0},
    {"nodePools", NULL, 0, 0},
    {"nodes", NULL, 0, 0},
    {"topologies", NULL, 0, 0},
    {"departments", NULL, 0, 0},
    {"projects", NULL, 0, 0},
    {"workloads", NULL, 0, 0},
    {"usage", NULL, 0, 0},
    {"people", NULL, 0, 0},
    {"searchTurns", NULL, 0, 0},
    {"searchCycle", NULL, 0, 0},
};

int snapshot_read_json(const struct json_t *value, struct arena *arena, struct snapshot **out_snapshot,
                       struct error *err)
{
    struct place document = {.value = value};
    struct snapshot *snapshot = arena_alloc(arena, sizeof(*snapshot));
    struct reader reader = {.arena = arena, .snapshot = snapshot};
    snapshot_defaults(snapshot);
    if (fields_read(&reader, &document, DOCUMENT_FIELDS, READER_COUNT_OF(DOCUMENT_FIELDS), NULL, err) < 0 ||
        read_settings(&reader, &document, err) < 0 || read_node_pools(&reader, &document, err) < 0)
        return -1;
    read_extended_names(&reader, &document);
    if (read_nodes(&reader, &document, err) < 0 || read_topologies(&reader, &document, err) < 0 ||
        read_queues(&reader, &document, err) < 0 || read_usage(&reader, &document, err) < 0 ||
        read_people(&reader, &document, err) < 0 || read_workloads(&reader, &document, err) < 0)
        return -1;
    *out_snapshot = snapshot;
    return 0;
}

int snapshot_read(const char *text, size_t length, struct arena *arena, struct snapshot **out_snapshot,
                  struct error *err)
{
    json_t *value = NULL;
    if (json_reader_parse(text, length, &value, err) < 0)
        return -1;
    int rc = snapshot_read_json(value, arena, out_snapshot, err);
    json_decref(value);
    return rc;
}

static int read_all(FILE *file, struct buffer *text, struct error *err)
{
    char block[4000];
    size_t length;
    while ((length = fread(block, 1, sizeof(block), file)) > 0) {
        buffer_append(text, block, length);
        if (text->overflow)
            return error_set(err, ERROR_INVALID, "more than %d bytes", FILE_MAXIMUM);
    }
    return ferror(file) ? error_set(err, ERROR_INVALID, "%s", strerror(errno)) : 0;
}

int snapshot_load_json(const char *path, struct json_t **out_value, struct error *err)
{
    int rc = -1;
    bool is_stdin = strcmp(path, "-") == 0;
    struct buffer text;
    buffer_init(&text, FILE_MAXIMUM);
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (!file)
        error_set(err, ERROR_INVALID, "%s", strerror(errno));
    else if (read_all(file, &text, err) == 0)
        rc = json_reader_parse(text.data ? text.data : "", text.length, out_value, err);
    if (rc < 0)
        error_prefix(err, "%.100s: ", is_stdin ? "standard input" : path);
    if (file && !is_stdin)
        fclose(file);
    buffer_done(&text);
    return rc;
}

int snapshot_read_file(const char *path, struct arena *arena, struct snapshot **out_snapshot, struct error *err)
{
    json_t *value = NULL;
    if (snapshot_load_json(path, &value, err) < 0)
        return -1;
    int rc = snapshot_read_json(value, arena, out_snapshot, err);
    if (rc < 0)
        error_prefix(err, "%.100s: ", strcmp(path, "-") == 0 ? "standard input" : path);
    json_decref(value);
    return rc;
}
