// Shells in pods, beside the stand-in, whose pretended commands tests/fakekube/exec.h lists.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/streams/kube_sessions.h"
#include "base/buffer.h"
#include "base/error.h"
#include "tests/support/check.h"
#include "tests/support/side_program.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 30000
};

#define PODS "/api/v1/namespaces/default/pods"

struct bench {
    struct side_program program;
    struct kube_access *access;
    struct kube_client *client;
    struct kube_sessions *sessions;
};

static void ask(struct bench *bench, enum kube_method method, const char *path, const char *body)
{
    struct kube_answer answer;
    struct error err = {0};
    struct kube_call call = {.method = method, .path = path, .body = body};
    check_int(kube_client_call(bench->client, &call, &answer, &err), 0, "%s: %s", path, err.message);
    kube_answer_done(&answer);
}

static int open_shell(struct bench *bench, const char *pod, const char *const *words, bool has_terminal,
                      struct backend_session *out, struct error *err)
{
    struct backend_session_request request = {.words = words, .has_terminal = has_terminal, .rows = 24, .columns = 80};
    *err = (struct error){0};
    return kube_sessions_open(bench->sessions, "default", pod, &request, out, err);
}

static void close_ends(struct backend_session *session)
{
    const int fds[] = {session->input_fd, session->output_fd, session->error_fd, session->control_fd};
    for (size_t i = 0; i < COUNT(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

// What there is of one end, up to its end.
static void read_rest(int fd, struct buffer *out)
{
    char data[2048];
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    while (fd >= 0 && poll(&wanted, 1, PATIENCE_MS) == 1) {
        ssize_t got = read(fd, data, sizeof(data));
        if (got <= 0)
            return;
        buffer_append(out, data, (size_t)got);
    }
}

static const char *text_of(const struct buffer *buffer)
{
    return buffer->data ? buffer->data : "";
}

static void check_end(struct backend_session *session, const char *want, const char *what)
{
    char end[200] = "";
    ssize_t got = recv(session->control_fd, end, sizeof(end) - 1, 0);
    end[got > 0 ? got : 0] = '\0';
    check_text(end, want, "%s: the end", what);
}

struct shell_case {
    const char *what;
    const char *words[4];
    bool has_terminal;
    const char *input, *output, *errors, *end;
};

static const struct shell_case SHELLS[] = {
    {"words", {"echo", "a b", "c&d=e"}, false, "", "a b c&d=e\n", "", "0 "},
    {"a status", {"fail", "7", "no"}, false, "", "", "no", "7 "},
    {"errors of a terminal are its output", {"fail", "3", "no"}, true, "", "no", "", "3 "},
    {"input until its end", {"cat"}, false, "one\ntwo", "one\ntwo", "", "0 "},
    {"the newer protocol", {"protocol"}, false, "", "v5", "", "0 "},
    {"a ping", {"ping"}, false, "", "hello", "", "0 "},
    {"no such command", {"nothing"}, false, "", "", "", "127 exec: \"nothing\": executable file not found in $PATH"},
    {"a connection that breaks off", {"drop"}, false, "", "going", "", "255 the connection to the cluster broke off"},
};

static void test_shells(struct bench *bench)
{
    for (size_t i = 0; i < COUNT(SHELLS); i++) {
        const struct shell_case *row = &SHELLS[i];
        struct backend_session session;
        struct buffer output, errors;
        struct error err;
        buffer_init(&output, 0);
        buffer_init(&errors, 0);
        int rc = open_shell(bench, "p", row->words, row->has_terminal, &session, &err);
        check_int(rc, 0, "%s: %s", row->what, err.message);
        if (rc < 0)
            continue;
        if (!row->has_terminal) {
            check_int(write(session.input_fd, row->input, strlen(row->input)), (int64_t)strlen(row->input), "input");
            close(session.input_fd);
            session.input_fd = -1;
        }
        read_rest(session.output_fd, &output);
        read_rest(session.error_fd, &errors);
        check_text(text_of(&output), row->output, "%s", row->what);
        check_text(text_of(&errors), row->errors, "%s: errors", row->what);
        check_end(&session, row->end, row->what);
        close_ends(&session);
        buffer_done(&output);
        buffer_done(&errors);
    }
}

// More than any pipe holds: what nobody reads yet waits, and nothing is lost.
static void test_much(struct bench *bench)
{
    struct backend_session session;
    struct buffer output;
    struct error err;
    buffer_init(&output, 0);
    check_int(open_shell(bench, "p", (const char *const[]){"big", "900000", NULL}, false, &session, &err), 0, "%s",
              err.message);
    read_rest(session.output_fd, &output);
    check_int((int64_t)output.length, 900000, "all of it");
    check_end(&session, "0 ", "much output");
    close_ends(&session);
    buffer_clear(&output);
    enum {
        INPUT_SIZE = 200000
    };
    char *input = malloc(INPUT_SIZE);
    memset(input, 'y', INPUT_SIZE);
    check_int(open_shell(bench, "p", (const char *const[]){"cat", NULL}, false, &session, &err), 0, "%s", err.message);
    for (size_t at = 0, taken = 0; at < INPUT_SIZE; at += taken) { // in turns, as pipes hold little
        ssize_t put = write(session.input_fd, input + at, INPUT_SIZE - at < 20000 ? INPUT_SIZE - at : 20000);
        taken = put > 0 ? (size_t)put : INPUT_SIZE;
        for (size_t back = 0; back < taken;) {
            char data[2000];
            ssize_t got = read(session.output_fd, data, sizeof(data));
            if (got <= 0)
                break;
            back += (size_t)got;
            buffer_append(&output, data, (size_t)got);
        }
    }
    close(session.input_fd);
    session.input_fd = -1;
    check_int((int64_t)output.length, INPUT_SIZE, "all of the input came back");
    check_end(&session, "0 ", "much input");
    close_ends(&session);
    free(input);
    buffer_done(&output);
}

static void read_until(int fd, const char *want, const char *what)
{
    struct buffer output;
    char byte;
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    buffer_init(&output, 0);
    while ((!output.data || !strstr(output.data, want)) && poll(&wanted, 1, PATIENCE_MS) == 1 &&
           read(fd, &byte, 1) == 1)
        buffer_char(&output, byte);
    check_text(text_of(&output), want, "%s", what);
    buffer_done(&output);
}

static void test_terminal(struct bench *bench)
{
    struct backend_session session;
    struct error err;
    struct winsize size = {.ws_row = 50, .ws_col = 132};
    check_int(open_shell(bench, "p", (const char *const[]){"size", NULL}, true, &session, &err), 0, "%s", err.message);
    check_int(session.error_fd, -1, "a terminal has no errors of its own");
    read_until(session.output_fd, "{\"Width\":80,\"Height\":24}", "the size at the start");
    check_int(ioctl(session.input_fd, TIOCSWINSZ, &size), 0, "another size");
    read_until(session.output_fd, "{\"Width\":132,\"Height\":50}", "another size");
    check_int(write(session.input_fd, "q", 1), 1, "a key, without a line's end");
    check_end(&session, "0 ", "a terminal");
    close_ends(&session);
}

static void test_refusals(struct bench *bench)
{
    static const char *const WORDS[] = {"echo", NULL};
    struct backend_session session;
    struct error err;
    check_int(open_shell(bench, "q", WORDS, false, &session, &err), -1, "no such pod");
    check_text(err.message, "the pod does not run: pods \"q\" not found", "no such pod");
    check_int(err.code, ERROR_CONFLICT, "no such pod");
    ask(bench, KUBE_POST, PODS,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"q\"},"
        "\"spec\":{\"schedulerName\":\"x\",\"containers\":[{\"name\":\"main\",\"image\":\"a\"}]}}");
    check_int(open_shell(bench, "q", WORDS, false, &session, &err), -1, "no node");
    check_text(err.message, "the pod does not run: pod q does not have a host assigned", "no node");
    ask(bench, KUBE_POST, "/fakekube/settings", "{\"version\":\"1.26.15\"}");
    check_int(open_shell(bench, "p", (const char *const[]){"protocol", NULL}, false, &session, &err), 0, "%s",
              err.message);
    read_until(session.output_fd, "v4", "the older protocol");
    check_end(&session, "0 ", "the older protocol");
    close_ends(&session);
    ask(bench, KUBE_POST, "/fakekube/faults",
        "{\"match\":{\"subresource\":\"exec\"},\"status\":{\"code\":403,\"empty\":true}}");
    check_int(open_shell(bench, "p", WORDS, false, &session, &err), -1, "no protocol");
    check_text(err.message, "the cluster knows no protocol of shells that the server knows", "no protocol");
    ask(bench, KUBE_POST, "/fakekube/faults",
        "{\"match\":{\"subresource\":\"exec\"},\"status\":{\"code\":503,\"message\":\"away\"}}");
    check_int(open_shell(bench, "p", WORDS, false, &session, &err), -1, "away");
    check_text(err.message, "the cluster opens no shell: away", "away");
    ask(bench, KUBE_POST, "/fakekube/faults", "{\"match\":{\"subresource\":\"exec\"},\"reset\":true}");
    check_int(open_shell(bench, "p", WORDS, false, &session, &err), -1, "a reset");
    check_int(err.code, ERROR_UNAVAILABLE, "a reset: %s", err.message);
}

// Who closes the control end hangs up; a stop of the server hangs up all.
static void test_hang_up(struct bench *bench)
{
    struct backend_session session;
    struct error err;
    check_int(open_shell(bench, "p", (const char *const[]){"cat", NULL}, false, &session, &err), 0, "%s", err.message);
    close(session.control_fd);
    session.control_fd = -1;
    struct buffer output;
    buffer_init(&output, 0);
    read_rest(session.output_fd, &output);
    check_text(text_of(&output), "", "nothing comes after a hang-up");
    close_ends(&session);
    buffer_done(&output);
    check_int(open_shell(bench, "p", (const char *const[]){"cat", NULL}, false, &session, &err), 0, "%s", err.message);
    kube_sessions_destroy(bench->sessions);
    check_end(&session, "255 the connection to the cluster broke off", "a stop");
    close_ends(&session);
}

static void make_pod(struct bench *bench)
{
    ask(bench, KUBE_POST, PODS,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
        "\"spec\":{\"schedulerName\":\"x\",\"containers\":[{\"name\":\"main\",\"image\":\"a\"}]}}");
    ask(bench, KUBE_POST, PODS "/p/binding",
        "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\","
        "\"name\":\"node-00000\"}}");
    struct kube_call call = {.path = PODS "/p"};
    bool runs = false;
    for (time_t until = time(NULL) + 30; !runs && time(NULL) < until; sched_yield()) {
        struct kube_answer answer;
        struct error err = {0};
        kube_client_call(bench->client, &call, &answer, &err);
        const char *phase = json_string_value(json_object_get(json_object_get(answer.body, "status"), "phase"));
        runs = phase && strcmp(phase, "Running") == 0;
        kube_answer_done(&answer);
    }
    check_true(runs, "the pod runs");
}

static void open_bench(struct bench *bench, const char *kubeconfig)
{
    struct kube_config_source source = {.kubeconfig = kubeconfig};
    struct kube_config *config = NULL;
    struct error err = {0};
    if (kube_config_load(&source, &config, &err) < 0 || kube_access_create(config, &bench->access, &err) < 0 ||
        kube_client_create(bench->access, NULL, &bench->client, &err) < 0) {
        printf("%s\n", err.message);
        exit(1);
    }
    bench->sessions = kube_sessions_create(bench->access, NULL);
}

static void close_bench(struct bench *bench)
{
    kube_client_destroy(bench->client);
    kube_access_destroy(bench->access);
    side_program_stop(&bench->program);
}

// Bytes that TLS has decoded and nobody has read wake no poll.
static void test_tls(const char *folder, int port)
{
    struct bench bench = {.access = NULL};
    char text[800], pem[100], kubeconfig[100];
    snprintf(pem, sizeof(pem), "%s/tls.pem", folder);
    snprintf(text, sizeof(text),
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout %s.key -out %s -subj /CN=t "
             "-addext subjectAltName=IP:127.0.0.1 2>/dev/null && cat %s.key >>%s",
             pem, pem, pem, pem);
    check_int(system(text), 0, "a certificate");
    snprintf(text, sizeof(text), "%d", port);
    side_program_start(&bench.program,
                       (const char *const[]){"python3", "tests/kubernetes_backend/tls_front.py", pem, text, NULL});
    snprintf(kubeconfig, sizeof(kubeconfig), "%s/tls", folder);
    FILE *file = fopen(kubeconfig, "w");
    fprintf(file,
            "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}], "
            "clusters: [{name: k, cluster: {server: 'https://127.0.0.1:%d', certificate-authority: %s}}], "
            "users: [{name: u, user: {token: fakekube}}]}\n",
            bench.program.port, pem);
    fclose(file);
    open_bench(&bench, kubeconfig);
    test_shells(&bench);
    test_much(&bench);
    test_terminal(&bench);
    kube_sessions_destroy(bench.sessions);
    close_bench(&bench);
    snprintf(text, sizeof(text), "%s.key", pem);
    unlink(text);
    unlink(pem);
    unlink(kubeconfig);
}

int main(void)
{
    struct bench bench = {.access = NULL};
    char folder[] = "/tmp/sessions_test_XXXXXX", kubeconfig[64];
    signal(SIGPIPE, SIG_IGN);
    check_true(mkdtemp(folder) != NULL, "a folder");
    snprintf(kubeconfig, sizeof(kubeconfig), "%s/kubeconfig", folder);
    side_program_start(&bench.program, (const char *const[]){"./fakekube", "--kubeconfig", kubeconfig, "--nodes", "1",
                                                             "--until-stdin-closes", NULL});
    open_bench(&bench, kubeconfig);
    make_pod(&bench);
    test_shells(&bench);
    test_much(&bench);
    test_terminal(&bench);
    test_tls(folder, bench.program.port);
    test_refusals(&bench);
    test_hang_up(&bench);
    close_bench(&bench);
    unlink(kubeconfig);
    rmdir(folder);
    return check_finish();
}
