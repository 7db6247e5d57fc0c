#include "backends/kubernetes/config/kube_config.h"

#include "backends/kubernetes/config/kube_file.h"
#include "base/buffer.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILES_MAX = 32
};

struct kube_config *kube_config_create(void)
{
    struct kube_config *config = memory_array(1, sizeof(*config));
    arena_init(&config->arena);
    config->origin = config->context = config->server = config->tls_server_name = config->proxy_url = "";
    config->ca_pem = config->ca_file = config->token = config->token_file = "";
    config->certificate_pem = config->certificate_file = config->key_pem = config->key_file = "";
    config->namespace = "default";
    return config;
}

void kube_config_destroy(struct kube_config *config)
{
    if (!config)
        return;
    arena_done(&config->arena);
    free(config);
}

static const char *read_line(struct kube_config *config, const char *path)
{
    struct buffer text;
    buffer_init(&text, KUBE_FILE_MAX);
    const char *line = NULL;
    if (kube_file_read(path, &text, NULL) == 0 && text.data) {
        text.data[strcspn(text.data, " \r\n\t")] = '\0';
        line = *text.data ? arena_strdup(&config->arena, text.data) : NULL;
    }
    buffer_done(&text);
    return line;
}

int kube_config_read_in_cluster(const char *folder, struct kube_config **out_config, struct error *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
    if (!host || !*host || !port || !*port)
        return error_set(err, ERROR_NOT_FOUND, "not in a cluster: KUBERNETES_SERVICE_HOST and _PORT are not set");
    struct kube_config *config = kube_config_create();
    config->token_file = arena_printf(&config->arena, "%s/token", folder);
    if (access(config->token_file, R_OK) < 0) {
        int rc = error_set(err, ERROR_NOT_FOUND, "not in a cluster: %s: %s", config->token_file, strerror(errno));
        kube_config_destroy(config);
        return rc;
    }
    bool is_ipv6 = strchr(host, ':') && *host != '[';
    config->server =
        arena_printf(&config->arena, "https://%s%s%s:%s", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port);
    config->ca_file = arena_printf(&config->arena, "%s/ca.crt", folder);
    config->is_in_cluster = true;
    config->origin = "the pod's service account";
    const char *namespace = read_line(config, arena_printf(&config->arena, "%s/namespace", folder));
    if (namespace)
        config->namespace = namespace;
    *out_config = config;
    return 0;
}

// Reads the files of a list with colons; such as are not there are left out where there are several.
static int read_files(const char *list, bool may_miss, const char *context, struct kube_config **out_config,
                      struct error *err)
{
    struct arena arena;
    struct buffer texts[FILES_MAX];
    const char *names[FILES_MAX], *contents[FILES_MAX];
    size_t count = 0;
    int rc = 0;
    arena_init(&arena);
    for (const char *at = list; rc == 0 && *at && count < FILES_MAX;) {
        size_t length = may_miss ? strcspn(at, ":") : strlen(at);
        names[count] = arena_strndup(&arena, at, length);
        at += length + (at[length] == ':');
        if (!length || (may_miss && access(names[count], F_OK) < 0))
            continue;
        buffer_init(&texts[count], KUBE_FILE_MAX);
        rc = kube_file_read(names[count], &texts[count], err);
        contents[count] = texts[count].data ? texts[count].data : "";
        count++;
    }
    if (rc == 0 && count == 0)
        rc = error_set(err, ERROR_NOT_FOUND, "no kubeconfig: %s is not there", list);
    if (rc == 0)
        rc = kube_config_read_texts(contents, names, count, context, out_config, err);
    for (size_t i = 0; i < count; i++)
        buffer_done(&texts[i]);
    arena_done(&arena);
    return rc;
}

int kube_config_load(const struct kube_config_source *source, struct kube_config **out_config, struct error *err)
{
    if (source->kubeconfig && *source->kubeconfig)
        return read_files(source->kubeconfig, false, source->context, out_config, err);
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (list && *list)
        return read_files(list, true, source->context, out_config, err);
    if (kube_config_read_in_cluster(KUBE_SERVICE_ACCOUNT_FOLDER, out_config, err) == 0)
        return 0;
    char *path = NULL;
    if (!home || asprintf(&path, "%s/.kube/config", home) < 0)
        return error_set(err, ERROR_NOT_FOUND, "no kubeconfig: neither a file is named, nor KUBECONFIG or HOME set");
    int rc = read_files(path, false, source->context, out_config, err);
    free(path);
    return rc;
}
