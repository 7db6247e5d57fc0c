// project create, update, delete; department create, update, delete.
#include "base/error.h"
#include "cli/command.h"
#include "cli/organisation/unit_rules.h"
#include "cli/what_if.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *what; // project, department
    const char *key;  // its list's
};

static const struct unit PROJECT = {"project", "projects"}, DEPARTMENT = {"department", "departments"};

// The entry of this name, the caller's.
static int find_named(struct cli *cli, const char *path, const char *key, const char *what, const char *name,
                      json_t **out, struct error *err)
{
    json_t *list, *entry, *found = NULL;
    size_t i;
    if (cli_get_all(cli, path, key, &list, err) < 0)
        return -1;
    json_array_foreach(list, i, entry)
        if (strcmp(cli_text(entry, "name"), name) == 0)
            found = entry;
    *out = json_incref(found);
    json_decref(list);
    return found ? 0 : error_set(err, ERROR_NOT_FOUND, "no %s was found with the name %s", what, name);
}

static int find_unit(struct cli *cli, const struct unit *unit, const char *name, json_t **out, struct error *err)
{
    const char *filter = client_escape(&cli->client, arena_printf(&cli->arena, "name==%s", name));
    return find_named(cli, arena_printf(&cli->arena, "/api/v1/org-unit/%s?filterBy=%s", unit->key, filter), unit->key,
                      unit->what, name, out, err);
}

// Sets the quota of one node pool in a list of resources; what it says of others stays.
static int set_quota(struct cli *cli, json_t *resources, struct error *err)
{
    const char *name = flag_text(&cli->arguments, "node-pool"), *text = flag_text(&cli->arguments, "gpu-quota");
    json_t *pool, *resource, *gpu = NULL;
    double quota;
    size_t i;
    name = name ? name : "default";
    if (!text)
        return 0;
    if (!unit_read_amount(text, &quota))
        return error_set(err, ERROR_INVALID, "--gpu-quota: %s is not a number of GPUs", text);
    if (find_named(cli, "/api/v1/node-pools?sortBy=name", "nodepools", "node pool", name, &pool, err) < 0)
        return -1;
    json_array_foreach(resources, i, resource)
        if (strcmp(cli_text(resource, "nodePool.name"), name) == 0)
            gpu = json_object_get(resource, "gpu");
    if (gpu)
        json_object_set_new(gpu, "deserved", json_real(quota));
    else
        json_array_append_new(resources,
                              json_pack("{s:{s:O, s:s}, s:{s:f}}", "nodePool", "id", json_object_get(pool, "id"),
                                        "name", name, "gpu", "deserved", quota));
    json_decref(pool);
    return 0;
}

// The one cluster's id.
static int find_cluster(struct cli *cli, const char **out_id, struct error *err)
{
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/clusters") < 0)
        return -1;
    *out_id = arena_strdup(&cli->arena, cli_text(json_array_get(answer, 0), "uuid"));
    json_decref(answer);
    return **out_id ? 0 : error_set(err, ERROR_NOT_FOUND, "there is no cluster");
}

static int make_body(struct cli *cli, const struct unit *unit, const char *name, json_t *body, struct error *err)
{
    const char *cluster, *description = flag_text(&cli->arguments, "description");
    const char *department = unit == &PROJECT ? flag_text(&cli->arguments, "department") : NULL;
    json_t *parent, *resources = json_array();
    json_object_set_new(body, "name", json_string(name));
    json_object_set_new(body, "resources", resources);
    if (description)
        json_object_set_new(body, "description", json_string(description));
    if (find_cluster(cli, &cluster, err) < 0)
        return -1;
    json_object_set_new(body, "clusterId", json_string(cluster));
    if (department) {
        if (find_unit(cli, &DEPARTMENT, department, &parent, err) < 0)
            return -1;
        json_object_set(body, "parentId", json_object_get(parent, "id"));
        json_decref(parent);
    }
    return unit_rules_set(cli, body, err) < 0 ? -1 : set_quota(cli, resources, err);
}

static const json_t *gpu_in(const json_t *list, const char *pool)
{
    json_t *resource;
    size_t i;
    json_array_foreach(list, i, resource)
        if (strcmp(cli_text(resource, "nodePool.name"), pool) == 0)
            return json_object_get(resource, "gpu");
    return NULL;
}

// In the pool of --node-pool.
static double quota_of(struct cli *cli, const json_t *unit)
{
    const char *pool = flag_text(&cli->arguments, "node-pool");
    return json_number_value(
        json_object_get(gpu_in(json_object_get(unit, "resources"), pool ? pool : "default"), "deserved"));
}

// Who may not know takes it that they do.
static bool departments_count(struct cli *cli)
{
    json_t *value = NULL;
    bool are_off = cli_get(cli, &value, NULL, "/v1/k8s/setting/departments") == 0 && json_is_false(value);
    json_decref(value);
    return !are_off;
}

// A department whose quota in a node pool is below what its projects have there.
struct lack {
    json_t *department; // NULL: none, or the caller may not know
    const char *name, *pool;
    double has, needs;
};

// What the department lacks once the project's quota in the pool of --node-pool is more by `added`.
static struct lack find_lack(struct cli *cli, const char *department, double added)
{
    const char *pool = flag_text(&cli->arguments, "node-pool");
    struct lack lack = {.name = *department ? department : "default", .pool = pool ? pool : "default"};
    struct error ignored = {0};
    if (added <= 0 || !departments_count(cli) || find_unit(cli, &DEPARTMENT, lack.name, &lack.department, &ignored) < 0)
        return lack;
    const json_t *own = json_object_get(gpu_in(json_object_get(lack.department, "resources"), lack.pool), "deserved");
    const json_t *sum =
        json_object_get(gpu_in(json_object_get(lack.department, "projectsAggregatedResources"), lack.pool), "deserved");
    lack.has = json_number_value(own);
    lack.needs = json_number_value(sum) + added;
    if (json_is_null(own) || json_is_null(sum) || lack.needs <= lack.has) {
        json_decref(lack.department);
        lack.department = NULL;
    }
    return lack;
}

// With --raise-department.
static int raise_department(struct cli *cli, const struct lack *lack, struct error *err)
{
    json_t *gpu, *resource;
    size_t i;
    const json_t *resources = json_object_get(lack->department, "resources");
    json_array_foreach(resources, i, resource) {
        if (strcmp(cli_text(resource, "nodePool.name"), lack->pool) != 0)
            continue;
        gpu = json_object_get(resource, "gpu");
        json_object_set_new(gpu, "deserved", json_real(lack->needs));
        if (json_is_number(json_object_get(gpu, "limit")) && cli_number(gpu, "limit") < lack->needs)
            json_object_set_new(gpu, "limit", json_real(lack->needs));
    }
    if (client_call(
            &cli->client, "PUT",
            arena_printf(&cli->arena, "/api/v1/org-unit/departments/%s/resources", cli_text(lack->department, "id")),
            resources, NULL, err) < 0)
        return -1;
    printf("department %s has %g GPUs of quota in node pool %s now, %g before\n", lack->name, lack->needs, lack->pool,
           lack->has);
    return 0;
}

// Without it: what is going to wait, and the way out.
static void say_lack(struct cli *cli, const struct lack *lack, const char *project)
{
    fprintf(
        stderr,
        "Note: department %s has %g GPUs of quota in node pool %s, and its projects %g. Non-preemptible work must fit "
        "both quotas: that of %s %s.\nRaise it: %s department update %s --gpu-quota %g --node-pool %s\n",
        lack->name, lack->has, lack->pool, lack->needs, project,
        lack->has > 0 ? "may wait for other projects" : "never starts there", cli->program, lack->name, lack->needs,
        lack->pool);
}

static int see_to_department(struct cli *cli, const struct lack *lack, struct error *err)
{
    return lack->department && flag_is_set(&cli->arguments, "raise-department") ? raise_department(cli, lack, err) : 0;
}

static void leave_department(struct cli *cli, const struct lack *lack, const char *project, bool is_done)
{
    if (is_done && lack->department && !flag_is_set(&cli->arguments, "raise-department"))
        say_lack(cli, lack, project);
    json_decref(lack->department);
}

static int create(struct cli *cli, const struct unit *unit, struct error *err)
{
    const char *name;
    struct lack lack = {0};
    json_t *body = json_object();
    int rc = cli_name(cli, &name, err);
    if (rc == 0)
        rc = make_body(cli, unit, name, body, err);
    if (rc == 0 && unit == &PROJECT) {
        const char *department = flag_text(&cli->arguments, "department");
        lack = find_lack(cli, department ? department : "", quota_of(cli, body));
        rc = see_to_department(cli, &lack, err);
    }
    if (rc == 0)
        rc = client_call(&cli->client, "POST", arena_printf(&cli->arena, "/api/v1/org-unit/%s", unit->key), body, NULL,
                         err);
    if (rc == 0)
        printf("%s %s created successfully\n", unit->what, name);
    leave_department(cli, &lack, name, rc == 0);
    json_decref(body);
    return rc;
}

// Nothing is changed: the server says what it would lead to.
static int ask_what_if(struct cli *cli, const struct unit *unit, const json_t *entry, struct error *err)
{
    json_t *answer, *question = json_pack("{s:[{s:O, s:O}]}", unit->key, "id", json_object_get(entry, "id"),
                                          "resources", json_object_get(entry, "resources"));
    int rc = client_call(&cli->client, "POST", "/api/v1/scheduler/what-if/quota", question, &answer, err);
    json_decref(question);
    if (rc < 0)
        return -1;
    if (cli_output(cli) == OUTPUT_TABLE) {
        what_if_print_quota(cli, answer);
        puts("\nNothing was changed.");
    } else {
        cli_print(cli, answer);
    }
    json_decref(answer);
    return 0;
}

// Quotas alone, or with rules the whole of what a change replaces.
static int send_change(struct cli *cli, const struct unit *unit, const json_t *entry, struct error *err)
{
    static const char *const KEPT[] = {"name",      "description",      "parentId",        "resources",
                                       "nodeTypes", "defaultNodePools", "schedulingRules", "enforceRunaiScheduler"};
    const char *path = arena_printf(&cli->arena, "/api/v1/org-unit/%s/%s", unit->key, cli_text(entry, "id"));
    if (!unit_rules_are_set(cli))
        return client_call(&cli->client, "PUT", arena_printf(&cli->arena, "%s/resources", path),
                           json_object_get(entry, "resources"), NULL, err);
    json_t *body = json_object();
    for (size_t i = 0; i < sizeof(KEPT) / sizeof(KEPT[0]); i++)
        if (json_object_get(entry, KEPT[i]))
            json_object_set(body, KEPT[i], json_object_get(entry, KEPT[i]));
    int rc = client_call(&cli->client, "PUT", path, body, NULL, err);
    json_decref(body);
    return rc;
}

static int send_quota(struct cli *cli, const struct unit *unit, const char *name, json_t *entry, double added,
                      struct error *err)
{
    struct lack lack = {0};
    if (unit == &PROJECT)
        lack = find_lack(cli, cli_text(entry, "parent.name"), added);
    int rc = see_to_department(cli, &lack, err);
    if (rc == 0)
        rc = send_change(cli, unit, entry, err);
    if (rc == 0)
        printf("%s %s updated successfully\n", unit->what, name);
    leave_department(cli, &lack, name, rc == 0);
    return rc;
}

static int update(struct cli *cli, const struct unit *unit, struct error *err)
{
    const char *name;
    json_t *entry;
    if (cli_name(cli, &name, err) < 0)
        return -1;
    bool sets_quota = flag_is_set(&cli->arguments, "gpu-quota");
    if (!sets_quota && !unit_rules_are_set(cli))
        return error_set(
            err, ERROR_INVALID,
            "nothing to change: --gpu-quota N [--node-pool POOL], --max-gpus-per-person N or --gpu-hours N");
    if (flag_is_set(&cli->arguments, "what-if") && unit_rules_are_set(cli))
        return error_set(err, ERROR_INVALID, "--what-if answers for --gpu-quota alone");
    if (find_unit(cli, unit, name, &entry, err) < 0)
        return -1;
    double before = quota_of(cli, entry);
    int rc = set_quota(cli, json_object_get(entry, "resources"), err);
    if (rc == 0)
        rc = unit_rules_set(cli, entry, err);
    if (rc == 0)
        rc = flag_is_set(&cli->arguments, "what-if")
                 ? ask_what_if(cli, unit, entry, err)
                 : send_quota(cli, unit, name, entry, quota_of(cli, entry) - before, err);
    json_decref(entry);
    return rc;
}

// A department goes with its projects and all their workloads: that is asked for in so many words.
static int check_empty(struct cli *cli, const char *name, struct error *err)
{
    json_t *projects, *project;
    const char *names = "";
    size_t i, count = 0;
    if (cli_get_all(cli, "/api/v1/org-unit/projects?sortBy=name", "projects", &projects, err) < 0)
        return -1;
    json_array_foreach(projects, i, project) {
        if (strcmp(cli_text(project, "parent.name"), name) != 0)
            continue;
        names = arena_printf(&cli->arena, "%s%s%s", names, count++ > 0 ? ", " : "", cli_text(project, "name"));
    }
    json_decref(projects);
    if (count == 0)
        return 0;
    error_set(err, ERROR_CONFLICT, "department %s has %zu %s: %s", name, count, count == 1 ? "project" : "projects",
              names);
    return error_details(err, "--with-projects deletes them too, with all their workloads");
}

// The server's word of what went: of a department with its projects.
static void print_gone(const json_t *answer)
{
    const json_t *project, *workloads;
    size_t i;
    json_array_foreach(json_object_get(answer, "projects"), i, project) {
        workloads = json_object_get(project, "workloads");
        printf("%s%s", i == 0 ? "with it " : ", ", cli_text(project, "name"));
        if (json_integer_value(workloads) > 0)
            printf(" (%" JSON_INTEGER_FORMAT " workload%s)", json_integer_value(workloads),
                   json_integer_value(workloads) == 1 ? "" : "s");
    }
    if (json_array_size(json_object_get(answer, "projects")) > 0)
        printf("\n");
}

static bool is_kubernetes(struct cli *cli)
{
    json_t *about = NULL;
    cli_get(cli, &about, NULL, "/api/v1/about");
    bool is = strcmp(cli_text(about, "backend"), "kubernetes") == 0;
    json_decref(about);
    return is;
}

// The server may not delete a namespace: people's volumes may be in it.
static void print_left(struct cli *cli, const json_t *project)
{
    if (is_kubernetes(cli))
        printf("its namespace %s stays in the cluster, where pods ran in it: kubectl delete namespace -l "
               "prorata.io/project=%s\n",
               cli_text(project, "status.namespace"), cli_text(project, "name"));
}

// The same for the projects of a department.
static void print_all_left(struct cli *cli, const json_t *projects)
{
    const json_t *project;
    const char *namespaces = "", *names = "";
    size_t i;
    if (json_array_size(projects) == 0 || !is_kubernetes(cli))
        return;
    json_array_foreach(projects, i, project) {
        const char *comma = i > 0 ? ", " : "";
        namespaces = arena_printf(&cli->arena, "%s%s%s", namespaces, comma, cli_text(project, "namespace"));
        names = arena_printf(&cli->arena, "%s%s%s", names, comma, cli_text(project, "name"));
    }
    printf("namespaces stay in the cluster, where pods ran in them: %s: kubectl delete namespace -l "
           "'prorata.io/project in (%s)'\n",
           namespaces, names);
}

static int delete (struct cli *cli, const struct unit *unit, struct error *err)
{
    const char *name, *how = "";
    json_t *entry, *answer = NULL;
    if (cli_name(cli, &name, err) < 0 || find_unit(cli, unit, name, &entry, err) < 0)
        return -1;
    if (flag_is_set(&cli->arguments, "with-projects"))
        how = "?withProjects=true";
    int rc = unit == &DEPARTMENT && !*how ? check_empty(cli, name, err) : 0;
    if (rc == 0)
        rc = client_call(&cli->client, "DELETE",
                         arena_printf(&cli->arena, "/api/v1/org-unit/%s/%s%s", unit->key, cli_text(entry, "id"), how),
                         NULL, &answer, err);
    if (rc == 0) {
        printf("%s %s deleted successfully\n", unit->what, name);
        print_gone(answer);
        if (unit == &PROJECT)
            print_left(cli, entry);
        else
            print_all_left(cli, json_object_get(answer, "projects"));
    }
    json_decref(answer);
    json_decref(entry);
    return rc;
}

int run_project_create(struct cli *cli, struct error *err)
{
    return create(cli, &PROJECT, err);
}

int run_project_update(struct cli *cli, struct error *err)
{
    return update(cli, &PROJECT, err);
}

int run_project_delete(struct cli *cli, struct error *err)
{
    return delete (cli, &PROJECT, err);
}

int run_department_create(struct cli *cli, struct error *err)
{
    return create(cli, &DEPARTMENT, err);
}

int run_department_update(struct cli *cli, struct error *err)
{
    return update(cli, &DEPARTMENT, err);
}

int run_department_delete(struct cli *cli, struct error *err)
{
    return delete (cli, &DEPARTMENT, err);
}
