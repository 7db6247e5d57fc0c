#include "backends/kubernetes/config/kube_config.h"

#include "base/error.h"
#include "base/yaml_reader.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

// Files as they were read, the first wins.
struct kubeconfigs {
    json_t **roots;
    const char *const *names;
    size_t count;
    struct arena *arena;
};

// One entry of clusters, users or contexts, and the file that has it.
struct entry {
    const json_t *value; // NULL: there is none
    const char *file;
    const char *label; // "user \"ann\"", for messages
    struct arena *arena;
};

// Words that look like numbers are words here.
static const char *text_of(const json_t *value, struct arena *arena)
{
    if (json_is_string(value))
        return arena_strdup(arena, json_string_value(value));
    if (json_is_integer(value))
        return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return json_is_boolean(value) ? json_is_true(value) ? "true" : "false" : "";
}

static const char *text_at(const struct entry *entry, const char *key)
{
    return text_of(json_object_get(entry->value, key), entry->arena);
}

static int refuse(const struct entry *entry, const char *key, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s: %s: %s: %s", entry->file, entry->label, key, what);
}

static int find_entry(const struct kubeconfigs *files, const char *list, const char *kind, const char *name,
                      struct entry *out, struct error *err)
{
    for (size_t i = 0; i < files->count; i++) {
        size_t k;
        json_t *item;
        json_array_foreach(json_object_get(files->roots[i], list), k, item) {
            if (strcmp(text_of(json_object_get(item, "name"), files->arena), name) != 0)
                continue;
            *out = (struct entry){.value = json_object_get(item, kind),
                                  .file = files->names[i],
                                  .label = arena_printf(files->arena, "%s \"%s\"", kind, name),
                                  .arena = files->arena};
            return 0;
        }
    }
    return error_set(err, ERROR_INVALID, "%s: no %s is named \"%s\"", files->names[0], kind, name);
}

// A path as it is meant: what is relative lies beside the file.
static const char *path_of(const struct entry *entry, const char *path)
{
    const char *slash = strrchr(entry->file, '/');
    if (!*path || *path == '/' || !slash)
        return path;
    return arena_printf(entry->arena, "%.*s/%s", (int)(slash - entry->file), entry->file, path);
}

static int decode_pem(const struct entry *entry, const char *key, const char *text, const char **out, struct error *err)
{
    size_t size = strlen(text) / 4 * 3 + 4, length;
    char *pem = arena_alloc(entry->arena, size);
    if (sodium_base642bin((unsigned char *)pem, size - 1, text, strlen(text), " \r\n\t", &length, NULL,
                          sodium_base64_VARIANT_ORIGINAL) < 0)
        return refuse(entry, key, "not base64", err);
    pem[length] = '\0';
    if (strlen(pem) != length || !strstr(pem, "-----BEGIN "))
        return refuse(entry, key, "not PEM in base64", err);
    *out = pem;
    return 0;
}

// KEY-data, which wins, or KEY, a file.
static int read_pem(const struct entry *entry, const char *key, const char **out_pem, const char **out_file,
                    struct error *err)
{
    const char *data_key = arena_printf(entry->arena, "%s-data", key), *data = text_at(entry, data_key);
    if (*data)
        return decode_pem(entry, data_key, data, out_pem, err);
    *out_file = path_of(entry, text_at(entry, key));
    return 0;
}

static bool is_this_machine(const char *host)
{
    static const char *const NAMES[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        size_t length = strlen(NAMES[i]);
        if (strncmp(host, NAMES[i], length) == 0 && strchr(":/", host[length]))
            return true;
    }
    return false;
}

static bool has_plain_bytes(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 127)
            return false;
    return true;
}

static int read_server(const struct entry *entry, struct kube_config *config, struct error *err)
{
    const char *server = text_at(entry, "server");
    bool is_https = strncmp(server, "https://", 8) == 0, is_http = strncmp(server, "http://", 7) == 0;
    const char *host = server + (is_https ? 8 : 7);
    if ((!is_https && !is_http) || !*host || strchr("/:", *host))
        return refuse(entry, "server", *server ? "not an address like https://HOST:PORT" : "missing", err);
    if (is_http && !is_this_machine(host))
        return refuse(entry, "server", "http is for this machine alone; use https", err);
    if (!has_plain_bytes(host) || strpbrk(host, "@?#\\\"'<>"))
        return refuse(entry, "server", "has a character that no address has", err);
    size_t length = strlen(server);
    while (server[length - 1] == '/')
        length--;
    config->server = arena_strndup(entry->arena, server, length);
    return 0;
}

static int read_cluster(const struct entry *entry, struct kube_config *config, struct error *err)
{
    if (read_server(entry, config, err) < 0 ||
        read_pem(entry, "certificate-authority", &config->ca_pem, &config->ca_file, err) < 0)
        return -1;
    if (strcmp(text_at(entry, "insecure-skip-tls-verify"), "true") == 0) {
        refuse(entry, "insecure-skip-tls-verify", "not taken: the server's certificate is always checked", err);
        return error_details(err, "name the certificate's authority by certificate-authority, and its name by "
                                  "tls-server-name");
    }
    config->tls_server_name = text_at(entry, "tls-server-name");
    config->proxy_url = text_at(entry, "proxy-url");
    if (!has_plain_bytes(config->tls_server_name) || strpbrk(config->tls_server_name, ":/@?#\\[]"))
        return refuse(entry, "tls-server-name", "not a host's name", err);
    if (!has_plain_bytes(config->proxy_url))
        return refuse(entry, "proxy-url", "has a character that no address has", err);
    return 0;
}

static const char *const *read_words(const struct entry *entry, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **words = arena_array(entry->arena, count + 1, sizeof(*words));
    for (size_t i = 0; i < count; i++)
        words[i] = text_of(json_array_get(list, i), entry->arena);
    return words;
}

static const char *const *read_environment(const struct entry *entry, const json_t *list)
{
    size_t count = json_array_size(list);
    const char **words = arena_array(entry->arena, count + 1, sizeof(*words));
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        words[i] = arena_printf(entry->arena, "%s=%s", text_of(json_object_get(item, "name"), entry->arena),
                                text_of(json_object_get(item, "value"), entry->arena));
    }
    return words;
}

static int read_exec(const struct entry *user, struct kube_config *config, struct error *err)
{
    struct entry exec = *user;
    exec.value = json_object_get(user->value, "exec");
    if (!json_is_object(exec.value))
        return 0;
    const char *command = text_at(&exec, "command"), *version = text_at(&exec, "apiVersion");
    if (!*command)
        return refuse(user, "exec.command", "missing", err);
    if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
        strcmp(version, "client.authentication.k8s.io/v1beta1") != 0)
        return refuse(user, "exec.apiVersion", "client.authentication.k8s.io/v1 or v1beta1", err);
    if (strcmp(text_at(&exec, "interactiveMode"), "Always") == 0)
        return refuse(user, "exec.interactiveMode", "Always: nobody is there who could answer", err);
    config->has_exec = true;
    config->exec = (struct kube_exec){
        .command = strchr(command, '/') ? path_of(user, command) : command,
        .words = read_words(&exec, json_object_get(exec.value, "args")),
        .environment = read_environment(&exec, json_object_get(exec.value, "env")),
        .api_version = version,
        .provides_cluster_info = strcmp(text_at(&exec, "provideClusterInfo"), "true") == 0,
        .install_hint = text_at(&exec, "installHint"),
    };
    return 0;
}

static int refuse_what_is_not_known(const struct entry *user, struct error *err)
{
    static const char *const KEYS[] = {"as", "as-uid", "as-groups", "as-user-extra", "username", "password"};
    const json_t *provider = json_object_get(user->value, "auth-provider");
    if (json_is_object(provider)) {
        refuse(user, "auth-provider", text_of(json_object_get(provider, "name"), user->arena), err);
        return error_details(err, "auth-provider is gone from Kubernetes since 1.26: use an exec plugin or a token");
    }
    for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (json_object_get(user->value, KEYS[i]))
            return refuse(user, KEYS[i], "not taken: use a token, a client certificate or an exec plugin", err);
    return 0;
}

static int read_user(const struct entry *entry, struct kube_config *config, struct error *err)
{
    if (refuse_what_is_not_known(entry, err) < 0 ||
        read_pem(entry, "client-certificate", &config->certificate_pem, &config->certificate_file, err) < 0 ||
        read_pem(entry, "client-key", &config->key_pem, &config->key_file, err) < 0)
        return -1;
    bool has_certificate = *config->certificate_pem || *config->certificate_file;
    bool has_key = *config->key_pem || *config->key_file;
    if (has_certificate != has_key)
        return refuse(entry, has_key ? "client-certificate" : "client-key", "missing beside the other", err);
    config->token = text_at(entry, "token");
    config->token_file = path_of(entry, text_at(entry, "tokenFile"));
    if (*config->token_file)
        config->token = "";
    if (!has_plain_bytes(config->token))
        return refuse(entry, "token", "has a character that no token has", err);
    return *config->token || *config->token_file ? 0 : read_exec(entry, config, err);
}

static int read_context(const struct kubeconfigs *files, const char *name, struct kube_config *config,
                        struct error *err)
{
    struct entry context, cluster, user;
    for (size_t i = 0; i < files->count && !*name; i++)
        name = text_of(json_object_get(files->roots[i], "current-context"), files->arena);
    if (!*name)
        return error_set(err, ERROR_INVALID, "%s: no current-context", files->names[0]);
    config->context = arena_strdup(files->arena, name);
    config->origin = arena_strdup(files->arena, files->names[0]);
    if (find_entry(files, "contexts", "context", name, &context, err) < 0 ||
        find_entry(files, "clusters", "cluster", text_at(&context, "cluster"), &cluster, err) < 0 ||
        read_cluster(&cluster, config, err) < 0)
        return -1;
    if (*text_at(&context, "namespace"))
        config->namespace = text_at(&context, "namespace");
    if (!*text_at(&context, "user"))
        return 0;
    return find_entry(files, "users", "user", text_at(&context, "user"), &user, err) < 0
               ? -1
               : read_user(&user, config, err);
}

int kube_config_read_texts(const char *const *texts, const char *const *names, size_t count, const char *context,
                           struct kube_config **out_config, struct error *err)
{
    struct kube_config *config = kube_config_create();
    struct kubeconfigs files = {.roots = arena_array(&config->arena, count, sizeof(*files.roots)),
                                .names = names,
                                .count = count,
                                .arena = &config->arena};
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = yaml_read(texts[i], strlen(texts[i]), names[i], &files.roots[i], err);
    if (rc == 0)
        rc = read_context(&files, context ? context : "", config, err);
    for (size_t i = 0; i < count; i++)
        json_decref(files.roots[i]);
    if (rc < 0) {
        kube_config_destroy(config);
        return -1;
    }
    *out_config = config;
    return 0;
}
