#include "api/lists/visibility.h"

#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/server.h"
#include "base/arena.h"
#include "db/db.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scope_path TENANT = {0};
static const char SQL_NAMES[] =
    "SELECT id, name, uuid FROM workloads WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id";

static struct scope_path path_of(const struct visibility *visibility, uint32_t project)
{
    const struct reconciler_view *view = visibility->view;
    return (struct scope_path){
        .cluster_id = reconciler_view_cluster_id(view),
        .department_id = reconciler_view_department_id(view, view->snapshot->projects[project].department),
        .project_id = reconciler_view_project_id(view, project),
    };
}

static bool shows_workloads_of(const struct visibility *visibility, uint32_t project)
{
    struct scope_path path = path_of(visibility, project);
    return access_is_allowed(visibility->req->caller, &path, RESOURCE_TYPE_WORKLOADS, ACTION_READ);
}

static bool shows_project(const struct visibility *visibility, uint32_t project)
{
    struct scope_path path = path_of(visibility, project);
    return access_is_allowed(visibility->req->caller, &path, RESOURCE_TYPE_PROJECT, ACTION_READ) ||
           shows_workloads_of(visibility, project);
}

static int compare_known(const void *a, const void *b)
{
    const struct known_name *left = a, *right = b;
    return left->kind != right->kind ? (int)left->kind - (int)right->kind : strcmp(left->name, right->name);
}

// Projects first: a department is shown where the caller may read it, or one of its projects.
static void hide_names(struct visibility *visibility)
{
    const struct snapshot *snapshot = visibility->view->snapshot;
    struct arena *arena = visibility->req->arena;
    struct snapshot_project *projects = arena_array(arena, snapshot->project_count, sizeof(*projects));
    struct snapshot_department *departments = arena_array(arena, snapshot->department_count, sizeof(*departments));
    bool *is_shown = arena_array(arena, snapshot->department_count, sizeof(*is_shown));
    for (uint32_t i = 0; i < snapshot->project_count; i++) {
        projects[i] = snapshot->projects[i];
        bool is_told = shows_project(visibility, i);
        visibility->known[visibility->known_count++] = (struct known_name){TOLD_PROJECT, projects[i].name, is_told};
        if (is_told)
            is_shown[projects[i].department] = true;
        else
            projects[i].name = HIDDEN_PROJECT;
    }
    for (uint32_t i = 0; i < snapshot->department_count; i++) {
        struct scope_path path = {.cluster_id = reconciler_view_cluster_id(visibility->view),
                                  .department_id = reconciler_view_department_id(visibility->view, i)};
        departments[i] = snapshot->departments[i];
        bool is_told =
            is_shown[i] || access_is_allowed(visibility->req->caller, &path, RESOURCE_TYPE_DEPARTMENT, ACTION_READ);
        visibility->known[visibility->known_count++] =
            (struct known_name){TOLD_DEPARTMENT, departments[i].name, is_told};
        if (!is_told)
            departments[i].name = HIDDEN_DEPARTMENT;
    }
    visibility->shown.projects = projects;
    visibility->shown.departments = departments;
    if (visibility->known_count > 1)
        qsort(visibility->known, visibility->known_count, sizeof(*visibility->known), compare_known);
}

void visibility_init(struct visibility *visibility, const struct request *req, const struct reconciler_view *view)
{
    *visibility = (struct visibility){.req = req, .view = view};
    if (!view)
        return;
    visibility->shown = *view->snapshot;
    visibility->shows_gone = access_is_allowed(req->caller, &TENANT, RESOURCE_TYPE_PROJECT, ACTION_READ);
    visibility->known = arena_array(req->arena, view->snapshot->project_count + view->snapshot->department_count,
                                    sizeof(*visibility->known));
    hide_names(visibility);
}

void visibility_open(struct visibility *visibility, const struct request *req)
{
    visibility_init(visibility, req, reconciler_acquire_view(req->server->reconciler));
}

void visibility_close(struct visibility *visibility)
{
    if (visibility->view)
        reconciler_release_view(visibility->req->server->reconciler, visibility->view);
}

static bool is_hidden(const struct visibility *visibility, enum told_kind kind, const char *name)
{
    struct known_name wanted = {.kind = kind, .name = name};
    if (kind == TOLD_WORKLOAD)
        return visibility->hides_workloads;
    if (!visibility->view)
        return true;
    const struct known_name *found =
        visibility->known_count == 0
            ? NULL
            : bsearch(&wanted, visibility->known, visibility->known_count, sizeof(wanted), compare_known);
    return found ? !found->is_shown : !visibility->shows_gone;
}

const char *visibility_name(const struct visibility *visibility, enum told_kind kind, const char *name)
{
    static const char *const INSTEAD[] = {
        [TOLD_PROJECT] = HIDDEN_PROJECT, [TOLD_DEPARTMENT] = HIDDEN_DEPARTMENT, [TOLD_WORKLOAD] = HIDDEN_WORKLOAD};
    return name && is_hidden(visibility, kind, name) ? INSTEAD[kind] : name;
}

static const char *shown_name(void *context, enum told_kind kind, const char *name)
{
    return visibility_name(context, kind, name);
}

const char *visibility_sentence(const struct visibility *visibility, const char *text)
{
    return told_text(visibility->req->arena, text, shown_name, (void *)visibility);
}

static const char *note_hidden(void *context, enum told_kind kind, const char *name)
{
    struct visibility *visibility = context;
    if (kind != TOLD_WORKLOAD && is_hidden(visibility, kind, name))
        visibility->hides_workloads = true;
    return name;
}

const char *visibility_event(const struct visibility *visibility, const char *text)
{
    struct visibility of_it = *visibility;
    (void)told_text(visibility->req->arena, text, note_hidden, &of_it);
    return visibility_sentence(&of_it, text);
}

bool visibility_shows_workloads(const struct visibility *visibility, int64_t project_id)
{
    for (uint32_t i = 0; visibility->view && i < visibility->view->snapshot->project_count; i++)
        if (reconciler_view_project_id(visibility->view, i) == project_id)
            return shows_workloads_of(visibility, i);
    // A project that is gone: whoever may read them everywhere.
    return access_is_allowed(visibility->req->caller, &TENANT, RESOURCE_TYPE_WORKLOADS, ACTION_READ);
}

void visibility_expect(struct visibility *visibility, uint32_t workload)
{
    if (workload >= visibility->view->snapshot->workload_count) // the one of a question
        return;
    visibility->expected = arena_grow(visibility->req->arena, visibility->expected, &visibility->expected_capacity,
                                      visibility->expected_count + 1, sizeof(*visibility->expected));
    visibility->expected[visibility->expected_count++] =
        (struct expected_workload){.id = visibility->view->workload_ids[workload]};
    visibility->is_read = false;
}

static int compare_expected(const void *a, const void *b)
{
    const struct expected_workload *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static const char *expected_ids(const struct visibility *visibility)
{
    size_t size = visibility->expected_count * sizeof("-9223372036854775808,") + sizeof("[]");
    char *text = arena_alloc(visibility->req->arena, size);
    size_t length = 0;
    for (size_t i = 0; i < visibility->expected_count; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%c%" PRId64, i ? ',' : '[', visibility->expected[i].id);
    snprintf(text + length, size - length, "]");
    return text;
}

static void read_expected(struct visibility *visibility)
{
    sqlite3_stmt *stmt;
    struct arena *arena = visibility->req->arena;
    visibility->is_read = true;
    qsort(visibility->expected, visibility->expected_count, sizeof(*visibility->expected), compare_expected);
    if (db_prepare(visibility->conn, SQL_NAMES, &stmt, NULL) < 0)
        return;
    db_bind_text(stmt, 1, expected_ids(visibility));
    for (size_t i = 0; db_step(visibility->conn, stmt, NULL) == 1;) {
        int64_t id = db_column_int(stmt, 0);
        const char *name = db_column_text(stmt, 1, arena), *uuid = db_column_text(stmt, 2, arena);
        for (; i < visibility->expected_count && visibility->expected[i].id <= id; i++)
            if (visibility->expected[i].id == id)
                visibility->expected[i] = (struct expected_workload){id, name, uuid};
    }
    db_release(visibility->conn, stmt);
}

static const struct expected_workload *find_expected(const struct visibility *visibility, int64_t id)
{
    struct expected_workload wanted = {.id = id};
    return visibility->expected_count == 0
               ? NULL
               : bsearch(&wanted, visibility->expected, visibility->expected_count, sizeof(wanted), compare_expected);
}

static const struct expected_workload *row_of(struct visibility *visibility, uint32_t workload)
{
    int64_t id = visibility->view->workload_ids[workload];
    const struct expected_workload *found;
    if (visibility->expected_count > 0 && !visibility->is_read)
        read_expected(visibility);
    if ((found = find_expected(visibility, id)) != NULL)
        return found;
    visibility_expect(visibility, workload);
    read_expected(visibility);
    return find_expected(visibility, id);
}

static const char *workload_name(void *context, uint32_t workload)
{
    struct visibility *visibility = context;
    const struct snapshot_workload *shown = &visibility->view->snapshot->workloads[workload];
    if (!shows_workloads_of(visibility, shown->project))
        return HIDDEN_WORKLOAD;
    const char *name = row_of(visibility, workload)->name;
    return name ? name : shown->name;
}

static const char *workload_id(void *context, uint32_t workload)
{
    struct visibility *visibility = context;
    if (!shows_workloads_of(visibility, visibility->view->snapshot->workloads[workload].project))
        return NULL;
    return row_of(visibility, workload)->uuid;
}

static const char *sentence(void *context, const char *text)
{
    return visibility_sentence(context, text);
}

static const char *node_id(void *context, enum share_node_kind kind, uint32_t index)
{
    const struct visibility *visibility = context;
    const struct reconciler_view *view = visibility->view;
    struct arena *arena = visibility->req->arena;
    switch (kind) {
    case SHARE_NODE_POOL:
        return arena_printf(arena, "%" PRId64, reconciler_view_node_pool_id(view, index));
    case SHARE_NODE_DEPARTMENT:
        return strcmp(visibility->shown.departments[index].name, HIDDEN_DEPARTMENT) == 0
                   ? NULL
                   : arena_printf(arena, "%" PRId64, reconciler_view_department_id(view, index));
    default:
        return strcmp(visibility->shown.projects[index].name, HIDDEN_PROJECT) == 0
                   ? NULL
                   : arena_printf(arena, "%" PRId64, reconciler_view_project_id(view, index));
    }
}

void visibility_names(struct visibility *visibility, const struct snapshot *snapshot, struct db_conn *conn,
                      struct why_names *out_names)
{
    const struct snapshot_project *projects = visibility->shown.projects;
    const struct snapshot_department *departments = visibility->shown.departments;
    visibility->conn = conn;
    visibility->shown = *snapshot;
    visibility->shown.projects = projects;
    visibility->shown.departments = departments;
    *out_names = (struct why_names){
        .snapshot = &visibility->shown,
        .workload_name = workload_name,
        .workload_id = workload_id,
        .sentence = sentence,
        .node_id = node_id,
        .context = visibility,
    };
}
