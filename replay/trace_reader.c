#include "replay/trace_reader.h"

#include "base/arena.h"
#include "base/error.h"
#include "model/priority.h"
#include "replay/csv.h"
#include "replay/nodes.h"
#include "replay/trace.h"

#include <stdlib.h>
#include <string.h>

enum column {
    COLUMN_ID,
    COLUMN_SUBMIT,
    COLUMN_DURATION,
    COLUMN_WAIT,
    COLUMN_DEPARTMENT,
    COLUMN_PROJECT,
    COLUMN_USER,
    COLUMN_PRIORITY,
    COLUMN_PREEMPTIBLE,
    COLUMN_PODS,
    COLUMN_GPUS,
    COLUMN_GPU_MILLI,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_MODELS,
    COLUMN_PHASE,
    COLUMN_COUNT
};

static const struct csv_column COLUMNS[COLUMN_COUNT] = {
    [COLUMN_ID] = {"id", true},
    [COLUMN_SUBMIT] = {"submit_s", true},
    [COLUMN_DURATION] = {"duration_s", true},
    [COLUMN_WAIT] = {"wait_s", false},
    [COLUMN_DEPARTMENT] = {"department", false},
    [COLUMN_PROJECT] = {"project", true},
    [COLUMN_USER] = {"user", false},
    [COLUMN_PRIORITY] = {"priority", false},
    [COLUMN_PREEMPTIBLE] = {"preemptible", false},
    [COLUMN_PODS] = {"pods", false},
    [COLUMN_GPUS] = {"gpus_per_pod", true},
    [COLUMN_GPU_MILLI] = {"gpu_milli", false},
    [COLUMN_CPU] = {"cpu_milli", false},
    [COLUMN_MEMORY] = {"mem_mib", false},
    [COLUMN_MODELS] = {"gpu_models", false},
    [COLUMN_PHASE] = {"phase", false},
};

struct named {
    const char *name;
    uint32_t department; // of a project, in the order they were met
    size_t line;
};

struct reader {
    struct csv csv;
    const struct nodes *nodes;
    struct arena *arena;
    struct trace_job *jobs;
    size_t job_count, job_capacity;
    struct trace_shape *shapes;
    size_t shape_count, shape_capacity;
    struct named *projects; // in the order they were met
    size_t project_count, project_capacity;
    const char **departments;
    size_t department_count, department_capacity;
    size_t *lines; // by job: where it stands
    size_t line_capacity;
};

static uint32_t find_department(struct reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->department_count; i++)
        if (strcmp(reader->departments[i], name) == 0)
            return (uint32_t)i;
    reader->departments = arena_grow(reader->arena, reader->departments, &reader->department_capacity,
                                     reader->department_count + 1, sizeof(*reader->departments));
    reader->departments[reader->department_count] = name;
    return (uint32_t)reader->department_count++;
}

static int read_project(struct reader *reader, struct trace_job *job, struct error *err)
{
    const char *project, *department = "default";
    if (csv_name(&reader->csv, COLUMN_PROJECT, reader->arena, &project, err) < 0)
        return -1;
    if (*csv_text(&reader->csv, COLUMN_DEPARTMENT) != '\0' &&
        csv_name(&reader->csv, COLUMN_DEPARTMENT, reader->arena, &department, err) < 0)
        return -1;
    uint32_t wanted = find_department(reader, department);
    for (size_t i = 0; i < reader->project_count; i++) {
        const struct named *known = &reader->projects[i];
        if (strcmp(known->name, project) != 0)
            continue;
        if (known->department != wanted)
            return csv_error(&reader->csv, COLUMN_DEPARTMENT, err, "project %.60s is in department %.60s in line %zu",
                             project, reader->departments[known->department], known->line);
        job->project = (uint32_t)i;
        return 0;
    }
    reader->projects = arena_grow(reader->arena, reader->projects, &reader->project_capacity, reader->project_count + 1,
                                  sizeof(*reader->projects));
    reader->projects[reader->project_count] = (struct named){project, wanted, reader->csv.row_line};
    job->project = (uint32_t)reader->project_count++;
    return 0;
}

// A name of the API, an older one, or a number.
static int read_priority(struct reader *reader, struct trace_job *job, struct error *err)
{
    const struct csv *csv = &reader->csv;
    const char *text = csv_text(csv, COLUMN_PRIORITY);
    const struct priority_class *class = priority_find(*text == '\0' ? "low" : text);
    if (class)
        job->priority = class->value;
    else if ((*text != '-' && (*text < '0' || *text > '9')) ||
             csv_whole(csv, COLUMN_PRIORITY, -1000000000, 1000000000, 0, &job->priority, NULL) < 0)
        return csv_error(csv, COLUMN_PRIORITY, err,
                         "priority: a name like low, medium or high, or a number, got \"%.40s\"", text);
    const char *word = csv_text(csv, COLUMN_PREEMPTIBLE);
    job->preemptible = strcmp(word, "1") == 0 || strcmp(word, "true") == 0;
    if (*word == '\0')
        job->preemptible =
            job->priority < PRIORITY_NON_PREEMPTIBLE_FROM || strcmp(text, "interactive-preemptible") == 0;
    else if (!job->preemptible && strcmp(word, "0") != 0 && strcmp(word, "false") != 0)
        return csv_error(csv, COLUMN_PREEMPTIBLE, err, "preemptible: 0 or 1, got \"%.40s\"", word);
    return 0;
}

static int read_models(struct reader *reader, struct trace_shape *shape, struct error *err)
{
    const char *text = csv_text(&reader->csv, COLUMN_MODELS);
    shape->gpu_models = "";
    if (*text == '\0')
        return 0;
    if (csv_name(&reader->csv, COLUMN_MODELS, reader->arena, &shape->gpu_models, err) < 0)
        return -1;
    const char **models = NULL;
    size_t capacity = 0;
    for (const char *at = text; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        size_t length = strcspn(at, "|");
        if (length == 0)
            return csv_error(&reader->csv, COLUMN_MODELS, err, "gpu_models: names with | between them, got \"%.40s\"",
                             text);
        models = arena_grow(reader->arena, models, &capacity, shape->model_count + 1, sizeof(*models));
        models[shape->model_count++] = arena_strndup(reader->arena, at, length);
    }
    shape->models = models;
    return 0;
}

static bool shapes_equal(const struct trace_shape *a, const struct trace_shape *b)
{
    return a->gpu_devices == b->gpu_devices && a->gpu_portion_milli == b->gpu_portion_milli &&
           a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib && strcmp(a->gpu_models, b->gpu_models) == 0;
}

static bool nodes_have_model(const struct nodes *nodes, const char *model)
{
    for (size_t n = 0; n < nodes->count; n++)
        if (nodes->nodes[n].gpu_type && strcmp(nodes->nodes[n].gpu_type, model) == 0)
            return true;
    return false;
}

// A job that no node could ever take by its model is a slip of the pen, or a trace of another cluster.
static int check_models(const struct reader *reader, const struct trace_shape *shape, struct error *err)
{
    bool is_known = shape->model_count == 0;
    for (size_t m = 0; m < shape->model_count && !is_known; m++)
        is_known = nodes_have_model(reader->nodes, shape->models[m]);
    if (is_known)
        return 0;
    return csv_error(&reader->csv, COLUMN_MODELS, err, "gpu_models: no node has %.60s", shape->gpu_models);
}

// Pods with the same models share their rules, whatever else they ask for: the core compares rules by address.
static const struct snapshot_placement_rules *rules_of(struct reader *reader, const struct trace_shape *shape)
{
    if (shape->model_count == 0)
        return NULL;
    for (size_t i = 0; i < reader->shape_count; i++)
        if (strcmp(reader->shapes[i].gpu_models, shape->gpu_models) == 0)
            return reader->shapes[i].rules;
    struct snapshot_requirement *selector = arena_alloc(reader->arena, sizeof(*selector));
    *selector = (struct snapshot_requirement){.key = NODES_MODEL_LABEL,
                                              .operator= REQUIREMENT_IN,
                                              .values = shape->models,
                                              .value_count = shape->model_count};
    struct snapshot_placement_rules *rules = arena_alloc(reader->arena, sizeof(*rules));
    *rules = (struct snapshot_placement_rules){.selector = selector, .selector_count = 1};
    return rules;
}

static int read_shape(struct reader *reader, struct trace_job *job, struct error *err)
{
    const struct csv *csv = &reader->csv;
    struct trace_shape shape = {0};
    int64_t gpus, milli;
    if (csv_count(csv, COLUMN_GPUS, 1024, &gpus, err) < 0 ||
        csv_whole(csv, COLUMN_GPU_MILLI, 0, 1000, 1000, &milli, err) < 0 ||
        csv_whole(csv, COLUMN_CPU, 0, 1000000000, 0, &shape.cpu_milli, err) < 0 ||
        csv_whole(csv, COLUMN_MEMORY, 0, 1000000000, 0, &shape.memory_mib, err) < 0 ||
        read_models(reader, &shape, err) < 0)
        return -1;
    if (gpus > 0 && (milli == 0 || milli % 10 != 0))
        return csv_error(csv, COLUMN_GPU_MILLI, err, "gpu_milli: 10 to 1000 in steps of 10, got \"%.40s\"",
                         csv_text(csv, COLUMN_GPU_MILLI));
    shape.gpu_devices = (uint32_t)gpus;
    shape.gpu_portion_milli = gpus > 0 && milli < 1000 ? milli : 0;
    shape.gpu_milli = gpus > 0 ? gpus * milli : 0;
    for (size_t i = reader->shape_count; i-- > 0;) {
        if (!shapes_equal(&reader->shapes[i], &shape))
            continue;
        job->shape = (uint32_t)i;
        return 0;
    }
    if (check_models(reader, &shape, err) < 0)
        return -1;
    shape.rules = rules_of(reader, &shape);
    reader->shapes = arena_grow(reader->arena, reader->shapes, &reader->shape_capacity, reader->shape_count + 1,
                                sizeof(*reader->shapes));
    reader->shapes[reader->shape_count] = shape;
    job->shape = (uint32_t)reader->shape_count++;
    return 0;
}

static int read_job(struct reader *reader, struct error *err)
{
    const struct csv *csv = &reader->csv;
    struct trace_job job = {0};
    int64_t pods, wait;
    if (csv_name(csv, COLUMN_ID, reader->arena, &job.id, err) < 0 ||
        csv_milli(csv, COLUMN_SUBMIT, TRACE_SECONDS_MAXIMUM, -1, &job.submit_ms, err) < 0 ||
        csv_milli(csv, COLUMN_DURATION, TRACE_SECONDS_MAXIMUM, -1, &job.duration_ms, err) < 0 ||
        csv_milli(csv, COLUMN_WAIT, TRACE_SECONDS_MAXIMUM, 0, &wait, err) < 0 || read_project(reader, &job, err) < 0 ||
        read_priority(reader, &job, err) < 0 || csv_whole(csv, COLUMN_PODS, 1, TRACE_PODS_MAXIMUM, 1, &pods, err) < 0 ||
        read_shape(reader, &job, err) < 0)
        return -1;
    if (job.submit_ms < 0 || job.duration_ms < 0) {
        size_t column = job.submit_ms < 0 ? COLUMN_SUBMIT : COLUMN_DURATION;
        return csv_error(csv, column, err, "%s: empty", COLUMNS[column].name);
    }
    job.pod_count = (uint32_t)pods;
    job.pod_names = trace_name_pods(job.id, job.pod_count, reader->arena);
    reader->lines =
        arena_grow(reader->arena, reader->lines, &reader->line_capacity, reader->job_count + 1, sizeof(*reader->lines));
    reader->jobs =
        arena_grow(reader->arena, reader->jobs, &reader->job_capacity, reader->job_count + 1, sizeof(*reader->jobs));
    reader->lines[reader->job_count] = csv->row_line;
    reader->jobs[reader->job_count++] = job;
    return 0;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_projects(const void *a, const void *b)
{
    return strcmp(((const struct trace_project *)a)->name, ((const struct trace_project *)b)->name);
}

static int compare_jobs(const void *a, const void *b)
{
    return strcmp(((const struct trace_job *)a)->id, ((const struct trace_job *)b)->id);
}

static int find_text(const char *const *texts, size_t count, const char *text)
{
    const char *const *at = bsearch(&text, texts, count, sizeof(*texts), compare_texts);
    return (int)(at - texts);
}

// Projects and departments in the order of their names; jobs refer to them so.
static void sort_queues(struct reader *reader, struct trace *trace)
{
    const char **departments = arena_array(reader->arena, reader->department_count, sizeof(*departments));
    memcpy(departments, reader->departments, reader->department_count * sizeof(*departments));
    qsort(departments, reader->department_count, sizeof(*departments), compare_texts);
    trace->departments = departments;
    trace->department_count = reader->department_count;
    trace->projects = arena_array(reader->arena, reader->project_count, sizeof(*trace->projects));
    trace->project_count = reader->project_count;
    for (size_t i = 0; i < reader->project_count; i++) {
        const char *department = reader->departments[reader->projects[i].department];
        trace->projects[i] = (struct trace_project){
            .name = reader->projects[i].name,
            .department = (uint32_t)find_text(departments, reader->department_count, department)};
    }
    qsort(trace->projects, trace->project_count, sizeof(*trace->projects), compare_projects);
    uint32_t *places = arena_array(reader->arena, reader->project_count, sizeof(*places));
    for (size_t i = 0; i < reader->project_count; i++) {
        struct trace_project key = {.name = reader->projects[i].name};
        const struct trace_project *at =
            bsearch(&key, trace->projects, trace->project_count, sizeof(key), compare_projects);
        places[i] = (uint32_t)(at - trace->projects);
    }
    for (size_t i = 0; i < reader->job_count; i++)
        reader->jobs[i].project = places[reader->jobs[i].project];
}

static int compare_ids(const void *a, const void *b, void *jobs)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int order = strcmp(((const struct trace_job *)jobs)[one].id, ((const struct trace_job *)jobs)[other].id);
    return order != 0 ? order : (one > other) - (one < other);
}

static int refuse_duplicates(const struct reader *reader, struct error *err)
{
    uint32_t *order = arena_array(reader->arena, reader->job_count, sizeof(*order));
    for (uint32_t i = 0; i < reader->job_count; i++)
        order[i] = i;
    qsort_r(order, reader->job_count, sizeof(*order), compare_ids, reader->jobs);
    for (size_t i = 1; i < reader->job_count; i++) {
        if (strcmp(reader->jobs[order[i - 1]].id, reader->jobs[order[i]].id) == 0)
            return error_set(err, ERROR_INVALID, "%.120s:%zu:1: id: %.60s stands in line %zu already", reader->csv.name,
                             reader->lines[order[i]], reader->jobs[order[i]].id, reader->lines[order[i - 1]]);
    }
    return 0;
}

static int read_jobs(struct reader *reader, struct trace *out_trace, struct error *err)
{
    for (bool is_row = true;;) {
        if (csv_next(&reader->csv, &is_row, err) < 0)
            return -1;
        if (!is_row)
            break;
        if (read_job(reader, err) < 0)
            return -1;
    }
    if (reader->job_count == 0)
        return error_set(err, ERROR_INVALID, "%.120s:1:1: no jobs", reader->csv.name);
    if (reader->job_count > UINT32_MAX / 2)
        return error_set(err, ERROR_INVALID, "%.120s: too many jobs", reader->csv.name);
    if (refuse_duplicates(reader, err) < 0)
        return -1;
    struct trace trace = {.name = reader->csv.name,
                          .shapes = reader->shapes,
                          .shape_count = reader->shape_count,
                          .job_count = reader->job_count};
    sort_queues(reader, &trace);
    qsort(reader->jobs, reader->job_count, sizeof(*reader->jobs), compare_jobs);
    trace_index_jobs(&trace, reader->jobs, reader->arena);
    *out_trace = trace;
    return 0;
}

static int read_and_close(struct reader *reader, struct trace *out_trace, struct error *err)
{
    int rc = read_jobs(reader, out_trace, err);
    csv_close(&reader->csv);
    return rc;
}

int trace_read(const char *path, const struct nodes *nodes, struct arena *arena, struct trace *out_trace,
               struct error *err)
{
    struct reader reader = {.nodes = nodes, .arena = arena};
    if (csv_open(&reader.csv, path, COLUMNS, COLUMN_COUNT, err) < 0)
        return -1;
    return read_and_close(&reader, out_trace, err);
}

int trace_read_text(const char *name, const char *text, size_t length, const struct nodes *nodes, struct arena *arena,
                    struct trace *out_trace, struct error *err)
{
    struct reader reader = {.nodes = nodes, .arena = arena};
    if (csv_open_text(&reader.csv, name, text, length, COLUMNS, COLUMN_COUNT, err) < 0)
        return -1;
    return read_and_close(&reader, out_trace, err);
}
