#include "replay/quota.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/yaml_reader.h"
#include "replay/csv.h"
#include "replay/trace.h"

#include <stdlib.h>
#include <string.h>

const char *const QUOTA_SOURCE_WORDS[QUOTA_SOURCE_COUNT] = {
    [QUOTA_FILE] = "file", [QUOTA_DEMAND] = "demand", [QUOTA_EQUAL] = "equal", [QUOTA_UNLIMITED] = "unlimited"};

enum column {
    COLUMN_KIND,
    COLUMN_NAME,
    COLUMN_GPUS,
    COLUMN_LIMIT,
    COLUMN_WEIGHT,
    COLUMN_RANK,
    COLUMN_COUNT
};

static const struct csv_column COLUMNS[COLUMN_COUNT] = {
    [COLUMN_KIND] = {"kind", true},    [COLUMN_NAME] = {"name", true},      [COLUMN_GPUS] = {"gpus", true},
    [COLUMN_LIMIT] = {"limit", false}, [COLUMN_WEIGHT] = {"weight", false}, [COLUMN_RANK] = {"rank", false},
};

#define QUOTA_GPUS_MAXIMUM INT64_C(1000000)

static int add_number(const struct csv *csv, size_t column, bool may_be_unlimited, json_t *object, const char *key,
                      struct error *err)
{
    int64_t milli;
    const char *text = csv_text(csv, column);
    if (may_be_unlimited && strcmp(text, "unlimited") == 0)
        return json_object_set_new(object, key, json_null());
    if (csv_milli(csv, column, QUOTA_GPUS_MAXIMUM, -1, &milli, err) < 0)
        return -1;
    if (milli >= 0)
        json_object_set_new(object, key, json_real((double)milli / 1000));
    return 0;
}

static int read_queue(const struct csv *csv, json_t *document, struct error *err)
{
    const char *kind = csv_text(csv, COLUMN_KIND);
    bool is_project = strcmp(kind, "project") == 0;
    if (!is_project && strcmp(kind, "department") != 0)
        return csv_error(csv, COLUMN_KIND, err, "kind: project or department, got \"%.40s\"", kind);
    json_t *queue = json_object(), *resources = json_object(), *gpu = json_object();
    json_object_set_new(queue, "name", json_string(csv_text(csv, COLUMN_NAME)));
    json_object_set_new(resources, "gpu", gpu);
    json_object_set_new(queue, "resources", json_pack("[o]", resources));
    json_array_append_new(json_object_get(document, is_project ? "projects" : "departments"), queue);
    int64_t rank;
    if (*csv_text(csv, COLUMN_NAME) == '\0')
        return csv_error(csv, COLUMN_NAME, err, "name: empty");
    if (add_number(csv, COLUMN_GPUS, true, gpu, "deserved", err) < 0 ||
        add_number(csv, COLUMN_LIMIT, true, gpu, "limit", err) < 0 ||
        add_number(csv, COLUMN_WEIGHT, false, gpu, "overQuotaWeight", err) < 0 ||
        csv_whole(csv, COLUMN_RANK, -1000000, 1000000, INT64_MIN, &rank, err) < 0)
        return -1;
    if (rank != INT64_MIN)
        json_object_set_new(resources, "rank", json_integer(rank));
    return 0;
}

static int read_csv(const char *path, json_t *document, struct error *err)
{
    struct csv csv;
    if (csv_open(&csv, path, COLUMNS, COLUMN_COUNT, err) < 0)
        return -1;
    json_object_set_new(document, "departments", json_array());
    json_object_set_new(document, "projects", json_array());
    int rc = 0;
    for (bool is_row = true; rc == 0 && is_row;) {
        rc = csv_next(&csv, &is_row, err);
        if (rc == 0 && is_row)
            rc = read_queue(&csv, document, err);
    }
    csv_close(&csv);
    return rc;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static int check_document(const char *path, const json_t *document, struct error *err)
{
    const char *key;
    json_t *value;
    if (!json_is_object(document))
        return error_set(err, ERROR_INVALID, "%.120s: departments and projects, each a list", path);
    json_object_foreach((json_t *)document, key, value) {
        if (strcmp(key, YAML_LINE_KEY) == 0)
            continue;
        if ((strcmp(key, "departments") != 0 && strcmp(key, "projects") != 0) || !json_is_array(value))
            return error_set(err, ERROR_INVALID, "%.120s: departments and projects, each a list; not %.40s", path, key);
    }
    return 0;
}

int quota_read_file(const char *path, struct quota_file *out_file, struct error *err)
{
    struct quota_file file = {.name = path};
    if (ends_in(path, ".csv")) {
        file.document = json_object();
        if (read_csv(path, file.document, err) == 0) {
            *out_file = file;
            return 0;
        }
    } else if (yaml_read_file(path, &file.document, err) == 0) { // JSON is YAML
        if (check_document(path, file.document, err) == 0) {
            *out_file = file;
            return 0;
        }
    }
    quota_done(&file);
    return -1;
}

void quota_done(struct quota_file *file)
{
    json_decref(file->document);
    file->document = NULL;
}

struct remainder {
    size_t project;
    __int128 rest;
};

static int compare_remainders(const void *a, const void *b)
{
    const struct remainder *one = a, *other = b;
    if (one->rest != other->rest)
        return one->rest > other->rest ? -1 : 1;
    return (one->project > other->project) - (one->project < other->project);
}

static __int128 demand_of(const struct trace *trace, size_t project, enum quota_source source)
{
    if (source == QUOTA_EQUAL)
        return 1;
    return trace->projects[project].gpu_milli_ms / 1000000; // GPU seconds: leaves room to multiply
}

void quota_divide(const struct trace *trace, enum quota_source source, int64_t capacity_milli, struct arena *arena,
                  int64_t *out_milli)
{
    int64_t gpus = capacity_milli / 1000;
    __int128 sum = 0;
    int64_t left = gpus;
    struct remainder *order = arena_array(arena, trace->project_count, sizeof(*order));
    for (size_t p = 0; p < trace->project_count; p++)
        sum += demand_of(trace, p, source);
    for (size_t p = 0; p < trace->project_count; p++) {
        const __int128 part = sum > 0 ? gpus * demand_of(trace, p, source) : 0;
        out_milli[p] = sum > 0 ? (int64_t)(part / sum) * 1000 : 0;
        order[p] = (struct remainder){p, sum > 0 ? part % sum : 0};
        left -= out_milli[p] / 1000;
    }
    qsort(order, trace->project_count, sizeof(*order), compare_remainders);
    for (size_t i = 0; i < trace->project_count && left > 0 && order[i].rest > 0; i++, left--)
        out_milli[order[i].project] += 1000;
}

static json_t *make_queue(const char *name, bool is_unlimited, int64_t deserved_milli)
{
    json_t *deserved = is_unlimited ? json_null() : json_real((double)deserved_milli / 1000);
    return json_pack("{s:s, s:[{s:{s:o}}]}", "name", name, "resources", "gpu", "deserved", deserved);
}

static json_t *find_queue(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item) {
        const char *other = json_string_value(json_object_get(item, "name"));
        if (other && strcmp(other, name) == 0)
            return item;
    }
    return NULL;
}

static const char *project_name(const struct trace *trace, size_t index)
{
    return trace->projects[index].name;
}

static const char *department_name(const struct trace *trace, size_t index)
{
    return trace->departments[index];
}

// Each name of the file's list must be one of the trace's, and stand there once.
static int check_names(const struct quota_file *file, const char *key, const char *kind, const struct trace *trace,
                       const char *(*name_of)(const struct trace *, size_t), size_t count, struct error *err)
{
    const json_t *list = json_object_get(file->document, key);
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        size_t at = 0;
        while (name && at < count && strcmp(name_of(trace, at), name) != 0)
            at++;
        if (!name || at == count)
            return error_set(err, ERROR_INVALID, "%.100s: %s[%zu].name: no %s \"%.60s\" in the trace", file->name, key,
                             i, kind, name ? name : "");
        if (find_queue(list, name) != item)
            return error_set(err, ERROR_INVALID, "%.100s: %s[%zu].name: duplicate: \"%.60s\"", file->name, key, i,
                             name);
    }
    return 0;
}

static int add_from_file(const struct trace *trace, const struct quota_file *file, json_t *departments,
                         json_t *projects, struct error *err)
{
    if (check_names(file, "projects", "project", trace, project_name, trace->project_count, err) < 0 ||
        check_names(file, "departments", "department", trace, department_name, trace->department_count, err) < 0)
        return -1;
    for (size_t d = 0; d < trace->department_count; d++) {
        json_t *known = find_queue(json_object_get(file->document, "departments"), trace->departments[d]);
        json_array_append_new(departments, known ? json_deep_copy(known) : make_queue(trace->departments[d], true, 0));
    }
    for (size_t p = 0; p < trace->project_count; p++) {
        const struct trace_project *project = &trace->projects[p];
        json_t *known = find_queue(json_object_get(file->document, "projects"), project->name);
        json_t *queue = known ? json_deep_copy(known) : make_queue(project->name, false, 0);
        json_object_set_new(queue, "department", json_string(trace->departments[project->department]));
        json_array_append_new(projects, queue);
    }
    return 0;
}

static void add_divided(const struct trace *trace, enum quota_source source, int64_t capacity_milli,
                        struct arena *arena, json_t *departments, json_t *projects)
{
    bool is_unlimited = source == QUOTA_UNLIMITED;
    int64_t *deserved = arena_array(arena, trace->project_count, sizeof(*deserved));
    int64_t *sums = arena_array(arena, trace->department_count, sizeof(*sums));
    if (!is_unlimited)
        quota_divide(trace, source, capacity_milli, arena, deserved);
    for (size_t p = 0; p < trace->project_count; p++) {
        const struct trace_project *project = &trace->projects[p];
        sums[project->department] += deserved[p];
        json_t *queue = make_queue(project->name, is_unlimited, deserved[p]);
        json_object_set_new(queue, "department", json_string(trace->departments[project->department]));
        json_array_append_new(projects, queue);
    }
    for (size_t d = 0; d < trace->department_count; d++)
        json_array_append_new(departments, make_queue(trace->departments[d], is_unlimited, sums[d]));
}

int quota_add_queues(const struct trace *trace, enum quota_source source, bool is_one_project,
                     const struct quota_file *file, int64_t capacity_milli, struct arena *arena, json_t *document,
                     struct error *err)
{
    json_t *departments = json_array(), *projects = json_array();
    json_object_set_new(document, "departments", departments);
    json_object_set_new(document, "projects", projects);
    if (is_one_project) {
        bool is_unlimited = source == QUOTA_UNLIMITED;
        json_array_append_new(departments, make_queue("all", is_unlimited, capacity_milli));
        json_t *project = make_queue("all", is_unlimited, capacity_milli);
        json_object_set_new(project, "department", json_string("all"));
        json_array_append_new(projects, project);
        return 0;
    }
    if (source == QUOTA_FILE)
        return add_from_file(trace, file, departments, projects, err);
    add_divided(trace, source, capacity_milli, arena, departments, projects);
    return 0;
}
