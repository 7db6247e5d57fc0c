// Logs of pods: lines and positions, and reads of the stand-in.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/streams/kube_log_lines.h"
#include "backends/kubernetes/streams/kube_logs.h"
#include "base/error.h"
#include "tests/support/check.h"
#include "tests/support/side_program.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define T1 "2026-01-01T00:00:01.000001111Z "
#define T1B "2026-01-01T00:00:01.000001999Z " // the same microsecond
#define T2 "2026-01-01T00:00:01.000002Z "
#define T3 "2026-01-01T00:00:03Z "

struct reading {
    const char *what, *text;
    bool has_times, is_over;
    size_t max_bytes;
    const char *want;
};

static const struct reading READINGS[] = {
    {"lines without their times", T1 "a\n" T2 "b\n", false, false, 100, "a\nb\n"},
    {"with them", T1 "a\n", true, false, 100, "2026-01-01T00:00:01.000Z a\n"},
    {"lines of one microsecond", T1 "a\n" T1B "b\n" T2 "c\n", false, false, 100, "a\nb\nc\n"},
    {"an empty line", T1 "\n", false, false, 100, "\n"},
    {"a line without a time belongs to the one before", T1 "a\nunable to read\n", false, false, 100,
     "a\nunable to read\n"},
    {"a line that has not ended waits", T1 "a\n" T2 "b", false, false, 100, "a\n"},
    {"unless the log is over", T1 "a\n" T2 "b", false, true, 100, "a\nb"},
    {"no more than asked", T1 "aaaa\n" T2 "bbbb\n", false, false, 8, "aaaa\n"},
    {"but one line", T1 "aaaaaaaaaaaaaaa\n", false, false, 8, "aaaaaaaaaaaaaaa\n"},
    {"nothing", "", false, true, 8, ""},
};

// In pieces of that size; the position behind.
static int64_t read_in_pieces(const struct reading *row, int64_t from, size_t piece, struct buffer *out)
{
    struct kube_log_lines lines;
    kube_log_lines_init(&lines, from, out);
    lines.has_times = row->has_times;
    lines.max_bytes = row->max_bytes;
    size_t length = strlen(row->text);
    for (size_t at = 0; at < length; at += piece)
        if (!kube_log_lines_feed(&lines, row->text + at, length - at < piece ? length - at : piece))
            break;
    kube_log_lines_finish(&lines, row->is_over);
    return lines.position;
}

static void test_lines(void)
{
    for (size_t i = 0; i < COUNT(READINGS); i++)
        for (size_t piece = 1; piece < 100; piece += 7) {
            struct buffer out;
            buffer_init(&out, 0);
            int64_t position = read_in_pieces(&READINGS[i], 0, piece, &out);
            check_text(out.data ? out.data : "", READINGS[i].want, "%s", READINGS[i].what);
            buffer_clear(&out);
            struct reading again = READINGS[i];
            again.max_bytes = 1000;
            read_in_pieces(&again, position, piece, &out);
            if (READINGS[i].max_bytes > 8)
                check_text(out.data ? out.data : "", "", "%s: not again", READINGS[i].what);
            buffer_done(&out);
        }
}

// Line by line, by positions alone: none is lost, none comes twice.
static void test_positions(void)
{
    static const struct reading ROW = {"", T1 "a\n" T1B "b\n" T2 "c\n" T3 "d\n", false, false, 1, ""};
    struct buffer out;
    int64_t position = 0;
    buffer_init(&out, 0);
    for (int i = 0; i < 6; i++)
        position = read_in_pieces(&ROW, position, 1000, &out);
    check_text(out.data, "a\nb\nc\nd\n", "each line once");
    check_int(kube_log_position_ms(position), 1767225603000, "asked again from its second on");
    check_int(kube_log_position_ms(0), 0, "the beginning");
    buffer_done(&out);
}

static void test_long_line(void)
{
    struct buffer out, text;
    struct kube_log_lines lines;
    buffer_init(&out, 0);
    buffer_init(&text, 0);
    buffer_text(&text, T1);
    for (int i = 0; i < KUBE_LOG_LINE_MAX + 100; i++)
        buffer_char(&text, 'x');
    buffer_text(&text, "\n" T2 "b\n");
    kube_log_lines_init(&lines, 0, &out);
    lines.max_bytes = 10 << 20;
    for (size_t at = 0; at < text.length; at += 1000)
        kube_log_lines_feed(&lines, text.data + at, text.length - at < 1000 ? text.length - at : 1000);
    kube_log_lines_finish(&lines, false);
    check_true(out.length < KUBE_LOG_LINE_MAX + 10, "the rest of a line is left out: %zu", out.length);
    check_text(out.data + out.length - 3, "\nb\n", "and the next is whole");
    buffer_done(&text);
    buffer_done(&out);
}

#define PODS "/api/v1/namespaces/default/pods"

struct bench {
    struct side_program program;
    struct kube_access *access;
    struct kube_client *client;
};

static void ask(struct bench *bench, enum kube_method method, const char *path, const char *body)
{
    struct kube_answer answer;
    struct error err = {0};
    struct kube_call call = {.method = method, .path = path, .body = body};
    if (method == KUBE_PATCH)
        call.content_type = KUBE_MERGE_PATCH;
    check_int(kube_client_call(bench->client, &call, &answer, &err), 0, "%s: %s", path, err.message);
    kube_answer_done(&answer);
}

struct seen {
    struct buffer text;
    int64_t position;
    bool has_ended;
    int rc;
    struct error err;
};

// From where it stands on.
static void look(struct bench *bench, struct seen *seen, int64_t tail, bool is_over)
{
    struct kube_log_source source = {bench->access, "default", "p", is_over};
    struct backend_log_request request = {.position = seen->position, .tail = tail, .max_bytes = 10000};
    buffer_clear(&seen->text);
    seen->err = (struct error){0};
    seen->rc = kube_logs_read(&source, &request, &seen->text, &seen->position, &seen->has_ended, &seen->err);
}

static const char *text_of(const struct seen *seen)
{
    return seen->text.data ? seen->text.data : "";
}

// Until there is something, for the kubelet starts pods in its own time.
static void wait_for_lines(struct bench *bench, struct seen *seen)
{
    time_t until = time(NULL) + 30;
    do {
        look(bench, seen, -1, false);
        sched_yield();
    } while (seen->rc == 0 && seen->text.length == 0 && time(NULL) < until);
}

static void test_cluster(struct bench *bench)
{
    struct seen seen = {.position = 0}, tail = {.position = 0};
    buffer_init(&seen.text, 0);
    buffer_init(&tail.text, 0);
    look(bench, &seen, -1, false);
    check_true(seen.rc == 0 && seen.has_ended, "a pod that is gone has no more lines: %s", seen.err.message);
    ask(bench, KUBE_POST, PODS,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"annotations\":{"
        "\"test.prorata.io/log\":\"one\\ntwo\\nthree\\n\"}},"
        "\"spec\":{\"schedulerName\":\"x\",\"containers\":[{\"name\":\"main\",\"image\":\"a\"}]}}");
    look(bench, &seen, -1, false);
    check_true(seen.rc == 0 && !seen.has_ended, "a pod without a node has no lines yet: %s", seen.err.message);
    ask(bench, KUBE_POST, PODS "/p/binding",
        "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\","
        "\"name\":\"node-00000\"}}");
    wait_for_lines(bench, &seen);
    check_text(text_of(&seen), "one\ntwo\nthree\n", "the log: %s", seen.err.message);
    look(bench, &tail, 2, false);
    check_text(text_of(&tail), "two\nthree\n", "its last lines");
    tail.position = 0;
    look(bench, &tail, 0, false);
    check_text(text_of(&tail), "", "none of them");
    look(bench, &seen, -1, false);
    check_text(text_of(&seen), "", "nothing new");
    ask(bench, KUBE_PATCH, PODS "/p",
        "{\"metadata\":{\"annotations\":{\"test.prorata.io/log\":\"one\\ntwo\\nthree\\nfour\\n\"}}}");
    look(bench, &seen, -1, false);
    check_text(text_of(&seen), "four\n", "what came since");
    look(bench, &tail, 0, false);
    check_text(text_of(&tail), "four\n", "also for who wanted none of what was there");
    ask(bench, KUBE_POST, "/fakekube/faults",
        "{\"match\":{\"subresource\":\"log\"},\"times\":2,\"status\":{\"code\":503,\"message\":\"away\"}}");
    look(bench, &seen, -1, false);
    check_true(seen.rc == 0 && !seen.has_ended, "who follows waits: %s", seen.err.message);
    tail.position = 0;
    look(bench, &tail, -1, false);
    check_text(tail.err.message, "the cluster gives no log: away", "who begins is told");
    look(bench, &seen, -1, true);
    check_true(seen.has_ended, "a pod that is over writes no more");
    buffer_done(&seen.text);
    buffer_done(&tail.text);
}

static void run_cluster(void)
{
    struct bench bench = {.access = NULL};
    struct kube_config *config = NULL;
    struct error err = {0};
    char folder[] = "/tmp/logs_test_XXXXXX", kubeconfig[64];
    check_true(mkdtemp(folder) != NULL, "a folder");
    snprintf(kubeconfig, sizeof(kubeconfig), "%s/kubeconfig", folder);
    struct kube_config_source source = {.kubeconfig = kubeconfig};
    side_program_start(&bench.program, (const char *const[]){"./fakekube", "--kubeconfig", kubeconfig, "--nodes", "1",
                                                             "--until-stdin-closes", NULL});
    if (kube_config_load(&source, &config, &err) < 0 || kube_access_create(config, &bench.access, &err) < 0 ||
        kube_client_create(bench.access, NULL, &bench.client, &err) < 0) {
        printf("%s\n", err.message);
        exit(1);
    }
    test_cluster(&bench);
    kube_client_destroy(bench.client);
    kube_access_destroy(bench.access);
    side_program_stop(&bench.program);
    unlink(kubeconfig);
    rmdir(folder);
}

int main(void)
{
    test_lines();
    test_positions();
    test_long_line();
    run_cluster();
    return check_finish();
}
