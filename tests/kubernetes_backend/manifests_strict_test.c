// Every manifest is posted to the stand-in of the API server, which refuses unknown fields and wrong types. The
// specifications are the fuzz target's: a byte for the kind of workload, then JSON.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/workload_type.h"
#include "tests/support/check.h"
#include "tests/support/side_program.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORPUS "tests/fuzz/corpus/fuzz_kube_manifest"
#define NAMESPACE "/api/v1/namespaces/runai-vision"

enum {
    SPEC_MAX = 64 * 1024
};

static const struct kube_site SITE = {.instance = "7f3a9c21", .git_image = "git:1"};

static void post(struct kube_client *client, const char *what, const char *path, const json_t *object)
{
    struct kube_answer answer;
    struct error err = {0};
    char *body = json_dumps(object, JSON_COMPACT);
    struct kube_call call = {.method = KUBE_POST, .path = path, .query = "fieldValidation=Strict", .body = body};
    int rc = kube_client_call(client, &call, &answer, &err);
    check_true(rc == 0 || strcmp(answer.status.reason, "AlreadyExists") == 0, "%s: %s: %s", what, path, err.message);
    kube_answer_done(&answer);
    free(body);
}

static void post_all(struct kube_client *client, const char *what, const char *path, json_t *list)
{
    json_t *object;
    size_t i;
    json_array_foreach(list, i, object)
        post(client, what, path, object);
    json_decref(list);
}

static void post_pod(struct kube_client *client, const char *what, const struct backend_pod *pod, struct arena *arena)
{
    json_t *object = NULL, *services = NULL, *claims = NULL;
    struct error err = {0};
    if (kube_manifest_check(&SITE, pod, &err) < 0)
        return;
    check_int(kube_manifest_pod(&SITE, pod, arena, &object, &err), 0, "%s: %s", what, err.message);
    check_int(kube_manifest_services(&SITE, pod, arena, &services, &err), 0, "%s: %s", what, err.message);
    check_int(kube_manifest_claims(&SITE, pod, arena, &claims, &err), 0, "%s: %s", what, err.message);
    post_all(client, what, NAMESPACE "/persistentvolumeclaims", claims);
    post_all(client, what, NAMESPACE "/services", services);
    post(client, what, NAMESPACE "/pods", object);
    struct kube_target target = {"runai-vision", kube_manifest_pod_name(pod, arena), NULL};
    json_t *binding = kube_manifest_binding(&target, "node-0", 1, 1700000000000);
    post(client, what, arena_printf(arena, NAMESPACE "/pods/%s/binding", target.name), binding);
    struct kube_event_text text = {target, false, "Scheduled", "Binding", "placed", 1700000000000, 1};
    json_t *event = kube_manifest_event(&SITE, &text, arena);
    post(client, what, NAMESPACE "/events", event);
    json_decref(event);
    json_decref(binding);
    json_decref(object);
}

static void post_file(struct kube_client *client, const char *name, int64_t number)
{
    struct arena arena;
    arena_init(&arena);
    char *text = arena_alloc(&arena, SPEC_MAX);
    FILE *file = fopen(arena_printf(&arena, CORPUS "/%s", name), "r");
    check_true(file != NULL, "%s", name);
    if (file && fread(text, 1, SPEC_MAX - 1, file) > 1) {
        enum workload_type type = (enum workload_type)((unsigned char)text[0] % WORKLOAD_TYPE_COUNT);
        struct backend_pod pod = {
            .uuid = "11111111-2222-3333-4444-555555555555",
            .name = arena_printf(&arena, "w%" PRId64 "-0-1", number),
            .role = "worker",
            .attempt = 1,
            .workload_uuid = "99999999-2222-3333-4444-555555555555",
            .workload_name = arena_printf(&arena, "w%" PRId64, number),
            .workload_type = workload_type_text(type),
            .workload_pods = 5,
            .project_name = "vision",
            .spec_json = text + 1,
        };
        post_pod(client, name, &pod, &arena);
    }
    if (file)
        fclose(file);
    arena_done(&arena);
}

int main(void)
{
    struct side_program program;
    struct kube_config *config = NULL;
    struct kube_access *access = NULL;
    struct kube_client *client = NULL;
    struct error err = {0};
    char folder[] = "/tmp/manifests_strict_XXXXXX", kubeconfig[64];
    check_true(mkdtemp(folder) != NULL, "a folder");
    snprintf(kubeconfig, sizeof(kubeconfig), "%s/kubeconfig", folder);
    struct kube_config_source source = {.kubeconfig = kubeconfig};
    side_program_start(&program, (const char *const[]){"./fakekube", "--kubeconfig", kubeconfig, "--nodes", "1",
                                                       "--until-stdin-closes", "--no-kubelet", NULL});
    if (kube_config_load(&source, &config, &err) < 0 || kube_access_create(config, &access, &err) < 0 ||
        kube_client_create(access, NULL, &client, &err) < 0) {
        printf("%s\n", err.message);
        return 1;
    }
    json_t *namespace = kube_manifest_namespace(&SITE, "vision", "runai-vision");
    post(client, "a namespace", "/api/v1/namespaces", namespace);
    json_decref(namespace);
    DIR *entries = opendir(CORPUS);
    int64_t number = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, "odd", 3) != 0) // nobody can submit those
            post_file(client, entry->d_name, number++);
    check_true(number > 0, "specifications");
    if (entries)
        closedir(entries);
    kube_client_destroy(client);
    kube_access_destroy(access);
    side_program_stop(&program);
    unlink(kubeconfig);
    rmdir(folder);
    return check_finish();
}
