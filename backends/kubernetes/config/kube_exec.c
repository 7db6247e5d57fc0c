#include "backends/kubernetes/config/kube_exec.h"

#include "backends/kubernetes/config/kube_config.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/timestamp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TIME_LIMIT_MS = 30000,
    LOOK_MS = 50,
    OUTPUT_MAX = 1 << 20,
    COMPLAINT_MAX = 160
};

struct program {
    pid_t pid;
    int output, complaints; // ends of pipes; -1: closed
    struct buffer text, complaint;
    int status; // of waitpid
};

static char *info_for(const struct kube_config *config)
{
    json_t *spec = json_pack("{s:b}", "interactive", 0);
    if (config->exec.provides_cluster_info) {
        json_t *cluster = json_pack("{s:s}", "server", config->server);
        if (*config->tls_server_name)
            json_object_set_new(cluster, "tls-server-name", json_string(config->tls_server_name));
        if (*config->proxy_url)
            json_object_set_new(cluster, "proxy-url", json_string(config->proxy_url));
        json_object_set_new(spec, "cluster", cluster);
    }
    json_t *info =
        json_pack("{s:s, s:s, s:o}", "apiVersion", config->exec.api_version, "kind", "ExecCredential", "spec", spec);
    char *text = json_dumps(info, JSON_COMPACT);
    json_decref(info);
    return text;
}

static bool is_same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length) == 0 && b[length] == '=';
}

static bool is_replaced(const char *variable, char *const *others, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_same_name(variable, others[i]))
            return true;
    return false;
}

// Ours with what the plugin wants added. The arena's.
static char **make_environment(const struct kube_config *config, const char *info, struct arena *arena)
{
    size_t ours = 0, added = 0, count = 0;
    while (environ[ours])
        ours++;
    while (config->exec.environment[added])
        added++;
    char **all = arena_array(arena, ours + added + 2, sizeof(*all));
    for (size_t i = 0; i < added; i++)
        all[count++] = arena_strdup(arena, config->exec.environment[i]);
    all[count++] = arena_printf(arena, "KUBERNETES_EXEC_INFO=%s", info);
    for (size_t i = 0, chosen = count; i < ours; i++)
        if (!is_replaced(environ[i], all, chosen))
            all[count++] = environ[i];
    return all;
}

static char **make_words(const struct kube_config *config, struct arena *arena)
{
    size_t count = 0;
    while (config->exec.words[count])
        count++;
    char **all = arena_array(arena, count + 2, sizeof(*all));
    all[0] = arena_strdup(arena, config->exec.command);
    for (size_t i = 0; i < count; i++)
        all[i + 1] = arena_strdup(arena, config->exec.words[i]);
    return all;
}

static int spawn(const struct kube_config *config, const int *outputs, const int *complaints, pid_t *out_pid)
{
    struct arena arena;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    arena_init(&arena);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, outputs[1], 1);
    posix_spawn_file_actions_adddup2(&actions, complaints[1], 2);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    char *info = info_for(config);
    int rc = posix_spawnp(out_pid, config->exec.command, &actions, &attributes, make_words(config, &arena),
                          make_environment(config, info ? info : "{}", &arena));
    free(info);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    arena_done(&arena);
    return rc;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

// Our end waits for nothing, the program's does.
static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int start(const struct kube_config *config, struct program *out, struct error *err)
{
    int outputs[2] = {-1, -1}, complaints[2] = {-1, -1};
    if (open_pipe(outputs) < 0 || open_pipe(complaints) < 0) {
        int problem = errno;
        close_end(&outputs[0]);
        close_end(&outputs[1]);
        close_end(&complaints[0]);
        close_end(&complaints[1]);
        return error_set(err, ERROR_UNAVAILABLE, "%s: no pipe: %s", config->exec.command, strerror(problem));
    }
    int rc = spawn(config, outputs, complaints, &out->pid);
    close_end(&outputs[1]);
    close_end(&complaints[1]);
    out->output = outputs[0];
    out->complaints = complaints[0];
    if (rc == 0)
        return 0;
    close_end(&out->output);
    close_end(&out->complaints);
    error_set(err, ERROR_UNAVAILABLE, "%s: cannot be started: %s", config->exec.command, strerror(rc));
    return *config->exec.install_hint ? error_details(err, "%s", config->exec.install_hint) : -1;
}

static void read_some(int *fd, struct buffer *out)
{
    char bytes[2048];
    ssize_t got;
    while (*fd >= 0 && (got = read(*fd, bytes, sizeof(bytes))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return; // nothing more for now
        buffer_append(out, bytes, (size_t)got);
    }
    close_end(fd);
}

// Until it has ended; what it leaves running ends with it.
static int follow(const struct kube_config *config, struct program *program, const atomic_bool *stopping,
                  struct error *err)
{
    int64_t until_us = timestamp_monotonic_us() + (int64_t)TIME_LIMIT_MS * 1000;
    const char *problem = NULL;
    for (pid_t ended = 0; ended == 0;) {
        struct pollfd ends[] = {{.fd = program->output, .events = POLLIN},
                                {.fd = program->complaints, .events = POLLIN}};
        if (poll(ends, 2, LOOK_MS) < 0 && errno != EINTR)
            problem = "cannot be listened to";
        ended = waitpid(program->pid, &program->status, WNOHANG);
        read_some(&program->output, &program->text);
        read_some(&program->complaints, &program->complaint);
        if (ended == 0 && timestamp_monotonic_us() > until_us)
            problem = "did not end within 30 s";
        if (program->text.overflow)
            problem = "printed more than 1 MiB";
        if (stopping && atomic_load(stopping))
            problem = "stopped with the server";
        if (problem)
            break;
    }
    kill(-program->pid, SIGKILL); // there may be none left
    if (!problem)
        return 0;
    while (waitpid(program->pid, &program->status, 0) < 0 && errno == EINTR)
        ;
    return error_set(err, ERROR_UNAVAILABLE, "%s: %s", config->exec.command, problem);
}

static int judge_end(const struct kube_config *config, struct program *program, struct error *err)
{
    if (WIFEXITED(program->status) && WEXITSTATUS(program->status) == 0)
        return 0;
    const char *complaint = program->complaint.data ? program->complaint.data : "";
    int length = (int)strcspn(complaint, "\r\n");
    return error_set(err, ERROR_UNAVAILABLE, "%s: ended with %s %d%s%.*s", config->exec.command,
                     WIFSIGNALED(program->status) ? "signal" : "status",
                     WIFSIGNALED(program->status) ? WTERMSIG(program->status) : WEXITSTATUS(program->status),
                     length ? ": " : "", length, complaint);
}

int kube_exec_run(const struct kube_config *config, const atomic_bool *stopping, struct kube_exec_credential *out,
                  struct error *err)
{
    struct program program = {.output = -1, .complaints = -1};
    if (start(config, &program, err) < 0)
        return -1;
    buffer_init(&program.text, OUTPUT_MAX);
    buffer_init(&program.complaint, COMPLAINT_MAX);
    int rc = follow(config, &program, stopping, err);
    if (rc == 0)
        rc = judge_end(config, &program, err);
    if (rc == 0) {
        rc = kube_exec_read(program.text.data ? program.text.data : "", program.text.length, config->exec.api_version,
                            out, err);
        if (rc < 0)
            error_prefix(err, "%s: ", config->exec.command);
    }
    close_end(&program.output);
    close_end(&program.complaints);
    buffer_done(&program.text);
    buffer_done(&program.complaint);
    return rc;
}

static char *copy_of(const json_t *status, const char *key)
{
    const char *text = json_string_value(json_object_get(status, key));
    return text && *text ? memory_strdup(text) : NULL;
}

static int take_status(const json_t *root, const char *version, struct kube_exec_credential *out, struct error *err)
{
    const char *kind = json_string_value(json_object_get(root, "kind"));
    const char *got = json_string_value(json_object_get(root, "apiVersion"));
    const json_t *status = json_object_get(root, "status");
    const char *end = json_string_value(json_object_get(status, "expirationTimestamp"));
    struct kube_exec_credential credential = {0};
    if (!kind || strcmp(kind, "ExecCredential") != 0 || !got || strcmp(got, version) != 0)
        return error_set(err, ERROR_INVALID, "printed no ExecCredential of %s", version);
    if (end && timestamp_parse(end, &credential.expires_ms, NULL) < 0)
        return error_set(err, ERROR_INVALID, "expirationTimestamp: not a time");
    credential.token = copy_of(status, "token");
    credential.certificate_pem = copy_of(status, "clientCertificateData");
    credential.key_pem = copy_of(status, "clientKeyData");
    if (!credential.certificate_pem == !credential.key_pem && (credential.token || credential.key_pem)) {
        *out = credential;
        return 0;
    }
    free(credential.token);
    free(credential.certificate_pem);
    free(credential.key_pem);
    return error_set(err, ERROR_INVALID, "printed neither a token nor a certificate with its key");
}

int kube_exec_read(const char *text, size_t length, const char *version, struct kube_exec_credential *out,
                   struct error *err)
{
    json_t *root;
    if (json_reader_parse(text, length, &root, err) < 0)
        return error_prefix(err, "printed no JSON: ");
    int rc = take_status(root, version, out, err);
    json_decref(root);
    return rc;
}
