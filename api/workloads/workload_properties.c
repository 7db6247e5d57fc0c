// The dictionaries behind workloads: categories, priorities, and types with their defaults. They are fixed.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/priority.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum category_index {
    BUILD,
    TRAIN,
    DEPLOY,
    CATEGORY_COUNT
};

static const struct {
    const char *id, *name, *description;
} CATEGORIES[CATEGORY_COUNT] = {
    {"1d23469f-35c0-5b38-bf45-af8365444282", "Build", "Interactive work: building and trying out"},
    {"86b2b119-ba85-58ad-8a0b-7b8b3bf5fb0c", "Train", "Training and batch work"},
    {"143b2e54-b314-5af7-b35a-cdb366e8c1c7", "Deploy", "Serving models"},
};

struct workload_type_row {
    const char *id, *name, *group;
    enum category_index category;
    const char *priority_class;
};

static const struct workload_type_row TYPES[] = {
    {"3103fec7-b121-5a78-a8a8-6aab93e195e2", "Workspace", "run.ai", BUILD, "high"},
    {"56c5a2e3-2a30-5339-8131-24bba9d2ce14", "Training", "run.ai", TRAIN, "low"},
    {"8a2272d7-455b-546c-a9c9-eeb5f0423f1e", "Distributed", "run.ai", TRAIN, "low"},
    {"0bef6d79-191e-535c-914d-d16240b754ed", "Inference", "run.ai", DEPLOY, "very-high"},
    {"77b5d0ff-9664-5521-ba46-0b724a90fc95", "DistributedInference", "run.ai", DEPLOY, "very-high"},
    {"bd430930-b38e-55d2-b8d1-c7cd61d1cb4c", "Job", "batch", BUILD, "high"},
    {"8b948272-3241-579b-9c87-8c1df680b698", "Notebook", "kubeflow.org", BUILD, "high"},
    {"661071ad-667d-5896-a960-a460037fb107", "TaskRun", "tekton.dev", BUILD, "high"},
    {"67bdf655-30b1-5afa-8a9b-5888fdf5569e", "DevWorkspace", "workspace.devfile.io", BUILD, "high"},
    {"0643e50d-8428-5ea0-937d-3780ff51be6d", "PyTorchJob", "kubeflow.org", TRAIN, "low"},
    {"2c085779-a0af-5d27-8afa-3492a073f4a5", "TFJob", "kubeflow.org", TRAIN, "low"},
    {"61d99cc2-49a9-57ce-bf11-532b76213c1d", "MPIJob", "kubeflow.org", TRAIN, "low"},
    {"f9e6443d-7123-583c-bce8-0080974d64a2", "XGBoostJob", "kubeflow.org", TRAIN, "low"},
    {"1373cb60-be18-5814-a8d8-1eb929113a79", "JAXJob", "kubeflow.org", TRAIN, "low"},
    {"9f093f6a-86c8-59ff-b2c1-aaaf3359fd31", "JobSet", "jobset.x-k8s.io", TRAIN, "low"},
    {"b68a76be-f691-52c9-b899-ffb2735749e7", "RayCluster", "ray.io", TRAIN, "low"},
    {"6edaf2d7-9179-54e2-b3ee-066745ad778c", "RayJob", "ray.io", TRAIN, "low"},
    {"a54a1c73-2a57-5a56-b404-31b02485db5e", "AMLJob", "amlarc.azureml.com", TRAIN, "low"},
    {"f97c74a0-80c2-519c-a46c-3a645757ae71", "VirtualMachineInstance", "kubevirt.io", TRAIN, "low"},
    {"18ad9929-c470-529e-80aa-e095d8d59da0", "Deployment", "apps", DEPLOY, "very-high"},
    {"aef17ec5-655c-50aa-bbe2-f3be9c3ac04d", "StatefulSet", "apps", DEPLOY, "very-high"},
    {"abb77f21-3bdc-59a0-96e8-0e3246c77415", "ReplicaSet", "apps", DEPLOY, "very-high"},
    {"88084bb0-779a-56ae-a3f1-75ce35087979", "Pod", "core", DEPLOY, "very-high"},
    {"7edbdb24-446c-5be2-94b6-8c7be96952d8", "CronJob", "batch", DEPLOY, "very-high"},
    {"f7c92a19-20ec-5cac-96b9-e693db9101df", "Service", "serving.knative.dev", DEPLOY, "very-high"},
    {"d6571d4a-eec1-51cd-a350-1032361957d8", "RayService", "ray.io", DEPLOY, "very-high"},
    {"1bc04247-eaa6-5cf8-9ac5-f4cf59cd4a34", "LeaderWorkerSet", "leaderworkerset.x-k8s.io", DEPLOY, "very-high"},
    {"282e7e54-de5b-5d0a-8aae-c9fdeee8fec0", "Workflow", "argoproj.io", DEPLOY, "very-high"},
    {"c4f5611e-5885-534a-a0d4-2d7bb1e9aeba", "PipelineRun", "tekton.dev", DEPLOY, "very-high"},
    {"df923b93-4eb4-5de4-bad4-16fdae0732b2", "SeldonDeployment", "machinelearning.seldon.io", DEPLOY, "very-high"},
};

enum {
    TYPE_COUNT = sizeof(TYPES) / sizeof(TYPES[0])
};

static json_t *category_to_json(enum category_index category)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "id", CATEGORIES[category].id, "name", CATEGORIES[category].name,
                     "description", CATEGORIES[category].description, "createdBy", "system");
}

int op_list_categories(struct request *req, struct response *res, struct error *err)
{
    (void)req;
    (void)err;
    json_t *list = json_array();
    for (int i = 0; i < CATEGORY_COUNT; i++)
        json_array_append_new(list, category_to_json((enum category_index)i));
    return response_json(res, json_pack("{s:o}", "categories", list));
}

int op_get_category_by_id(struct request *req, struct response *res, struct error *err)
{
    const char *id = request_path(req, "categoryId");
    for (int i = 0; i < CATEGORY_COUNT; i++)
        if (strcasecmp(CATEGORIES[i].id, id) == 0)
            return response_json(res, category_to_json((enum category_index)i));
    return error_set(err, ERROR_NOT_FOUND, "category %.40s: not found", id);
}

static json_t *type_to_json(const struct workload_type_row *type)
{
    const struct priority_class *priority = priority_find(type->priority_class);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", type->id, "name", type->name, "group",
                     type->group, "categoryId", CATEGORIES[type->category].id, "categoryName",
                     CATEGORIES[type->category].name, "priorityId", priority->id, "priorityName", priority->name,
                     "createdBy", "system");
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

// One condition on a text, as api/lists/list_query.h has it for what is in the database.
static bool text_passes(const char *text, const struct filter *filter)
{
    switch (filter->op) {
    case FILTER_EQUAL:
        return strcmp(text, filter->value) == 0;
    case FILTER_NOT_EQUAL:
        return strcmp(text, filter->value) != 0;
    case FILTER_LESS_EQUAL:
        return strcmp(text, filter->value) <= 0;
    case FILTER_GREATER_EQUAL:
        return strcmp(text, filter->value) >= 0;
    case FILTER_CONTAINS:
        return strcasestr(text, filter->value) != NULL;
    case FILTER_LACKS:
        return strcasestr(text, filter->value) == NULL;
    case FILTER_BEGINS:
        return strncasecmp(text, filter->value, strlen(filter->value)) == 0;
    case FILTER_ENDS:
        return ends_with(text, filter->value);
    }
    return false;
}

int op_list_workload_types(struct request *req, struct response *res, struct error *err)
{
    (void)err;
    json_t *list = json_array();
    bool is_external_only = request_query_boolean(req, "externalTypesOnly");
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        bool passes = !is_external_only || strcmp(TYPES[i].group, "run.ai") != 0;
        for (size_t j = 0; j < req->filter_count && passes; j++)
            passes = text_passes(strcmp(req->filters[j].field, "name") == 0 ? TYPES[i].name : TYPES[i].group,
                                 &req->filters[j]);
        if (passes)
            json_array_append_new(list, type_to_json(&TYPES[i]));
    }
    return response_json(res, json_pack("{s:o}", "types", list));
}

int op_get_workload_type(struct request *req, struct response *res, struct error *err)
{
    const char *id = request_path(req, "workloadTypeId");
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strcasecmp(TYPES[i].id, id) == 0)
            return response_json(res, type_to_json(&TYPES[i]));
    return error_set(err, ERROR_NOT_FOUND, "workload type %.40s: not found", id);
}

static bool value_passes(int64_t value, const struct filter *filter, struct error *err, bool *out_is_bad)
{
    char *end;
    long long wanted = strtoll(filter->value, &end, 10);
    *out_is_bad = *end || filter->op > FILTER_GREATER_EQUAL;
    if (*out_is_bad)
        error_set(err, ERROR_INVALID, "filterBy: value is compared by == != <= >= with a whole number, got %.40s",
                  filter->value);
    switch (filter->op) {
    case FILTER_EQUAL:
        return value == wanted;
    case FILTER_NOT_EQUAL:
        return value != wanted;
    case FILTER_LESS_EQUAL:
        return value <= wanted;
    default:
        return value >= wanted;
    }
}

static int priority_passes(const struct request *req, const struct priority_class *class, bool *out_passes,
                           struct error *err)
{
    *out_passes = true;
    for (size_t i = 0; i < req->filter_count; i++) {
        const struct filter *filter = &req->filters[i];
        bool is_bad = false;
        if (strcmp(filter->field, "value") == 0)
            *out_passes = value_passes(class->value, filter, err, &is_bad) && *out_passes;
        else
            *out_passes =
                text_passes(strcmp(filter->field, "name") == 0 ? class->name : "system", filter) && *out_passes;
        if (is_bad)
            return -1;
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct priority_class *const *)a)->name, (*(const struct priority_class *const *)b)->name);
}

int op_get_workload_priorities(struct request *req, struct response *res, struct error *err)
{
    const char *sort = request_query(req, "sortBy"), *order = request_query(req, "sortOrder");
    const struct priority_class **classes = arena_array(req->arena, PRIORITY_CLASS_COUNT, sizeof(*classes));
    size_t count = 0;
    for (size_t i = 0; i < PRIORITY_CLASS_COUNT; i++) {
        bool passes;
        if (priority_passes(req, &PRIORITY_CLASSES[i], &passes, err) < 0)
            return -1;
        if (passes)
            classes[count++] = &PRIORITY_CLASSES[i];
    }
    if (sort && strcmp(sort, "name") == 0)
        qsort(classes, count, sizeof(*classes), compare_names);
    bool is_descending = order && strcmp(order, "desc") == 0;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct priority_class *class = classes[is_descending ? count - 1 - i : i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:s}", "id", class->id, "name", class->name, "value",
                                              (json_int_t) class->value, "source", "system"));
    }
    return response_json(res, json_pack("{s:o}", "priorities", list));
}
