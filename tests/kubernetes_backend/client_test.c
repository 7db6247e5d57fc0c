// Calls to a server that fails on demand: what is sent, what comes back, what is sent again, and how it all stops.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_answer.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/client/kube_pace.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/config/kube_config.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "tests/support/check.h"
#include "tests/support/side_program.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 60
};

#define STAND_IN "tests/kubernetes_backend/stand_in.py"

static char folder[] = "/tmp/kube-client-test-XXXXXX";

static struct kube_access *access_of(const char *cluster, const char *user)
{
    static const char *const NAMES[] = {"/k"};
    char text[1024];
    const char *texts[] = {text};
    struct kube_config *config = NULL;
    struct kube_access *access = NULL;
    struct error err = {0};
    snprintf(text, sizeof(text),
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {%s}}]\nusers: [{name: u, user: {%s}}]\n",
             cluster, user);
    if (kube_config_read_texts(texts, NAMES, 1, NULL, &config, &err) < 0 ||
        kube_access_create(config, &access, &err) < 0) {
        printf("%s\n", err.message);
        exit(1);
    }
    return access;
}

static struct kube_access *plain_access(int port, const char *user)
{
    char cluster[128];
    snprintf(cluster, sizeof(cluster), "server: 'http://127.0.0.1:%d'", port);
    return access_of(cluster, user);
}

static struct kube_client *client_of(struct kube_access *access, const struct kube_client_options *options)
{
    struct kube_client *client = NULL;
    check_int(kube_client_create(access, options, &client, NULL), 0, "a client");
    return client;
}

struct call_case {
    const char *what;
    struct kube_call call;
    enum kube_outcome outcome;
    int code, attempts;
    const char *reason, *message;
};

static const struct call_case CALLS[] = {
    {"good", {.path = "/echo"}, KUBE_ANSWERED, 200, 1, "", ""},
    {"503 passes", {.path = "/flaky/a/503/2", .try_for_ms = -1}, KUBE_ANSWERED, 200, 3, "", ""},
    {"503 when nothing is tried again", {.path = "/flaky/b/503/2"}, KUBE_ANSWERED, 503, 1, "Flaky", "not now"},
    {"a write that must not come twice",
     {.method = KUBE_POST, .path = "/flaky/c/500/1", .body = "{}", .try_for_ms = -1},
     KUBE_ANSWERED,
     500,
     1,
     "Flaky",
     "not now"},
    {"a write that may",
     {.method = KUBE_POST, .path = "/flaky/d/500/1", .body = "{}", .is_repeatable = true, .try_for_ms = -1},
     KUBE_ANSWERED,
     200,
     2,
     "",
     ""},
    {"429 did nothing, so any write goes again",
     {.method = KUBE_POST, .path = "/flaky/e/429/1", .body = "{}", .try_for_ms = -1},
     KUBE_ANSWERED,
     200,
     2,
     "",
     ""},
    {"409 does not pass", {.path = "/flaky/f/409/1", .try_for_ms = -1}, KUBE_ANSWERED, 409, 1, "Flaky", "not now"},
    {"a wait longer than the patience",
     {.path = "/flaky/g/503/1/60", .try_for_ms = 2000},
     KUBE_ANSWERED,
     503,
     1,
     "Flaky",
     "not now"},
    {"a budget's 429",
     {.method = KUBE_POST, .path = "/budget/p", .body = "{}", .is_repeatable = true, .try_for_ms = -1},
     KUBE_ANSWERED,
     429,
     1,
     "TooManyRequests",
     "would violate"},
    {"a failure that is no Status", {.path = "/kindless"}, KUBE_ANSWERED, 504, 1, "", "request timed out"},
    {"nothing, and no permission", {.path = "/empty/403"}, KUBE_ANSWERED, 403, 1, "", ""},
    {"nothing, and well", {.path = "/empty/204"}, KUBE_ANSWERED, 204, 1, "", ""},
    {"a text", {.path = "/text"}, KUBE_ANSWERED, 200, 1, "", ""},
    {"a failure in words", {.path = "/plain"}, KUBE_ANSWERED, 404, 1, "", "404 page not found"},
    {"half a JSON",
     {.path = "/rubbish"},
     KUBE_BAD_ANSWER,
     200,
     1,
     "",
     "no JSON: line 1 column 5: unexpected token near end of file"},
    {"too large", {.path = "/big/100000", .answer_max = 50000}, KUBE_BAD_ANSWER, 0, 1, "", "larger than 50000 bytes"},
    {"a cut answer to a read", {.path = "/cut/h", .try_for_ms = 1200}, KUBE_NO_ANSWER, 0, -2, "", NULL},
    {"a cut answer to a write",
     {.method = KUBE_POST, .path = "/cut/i", .body = "{}", .try_for_ms = -1},
     KUBE_NO_ANSWER,
     0,
     1,
     "",
     NULL},
    {"no redirects", {.path = "/redirect"}, KUBE_ANSWERED, 302, 1, "", ""},
};

static void check_calls(struct kube_client *client)
{
    for (size_t i = 0; i < COUNT(CALLS); i++) {
        const struct call_case *want = &CALLS[i];
        struct kube_answer got;
        struct error err = {0};
        int rc = kube_client_call(client, &want->call, &got, &err);
        check_int(got.outcome, want->outcome, "%s: outcome", want->what);
        check_int(got.status.code, want->code, "%s: code", want->what);
        check_int(rc == 0, want->outcome == KUBE_ANSWERED && want->code / 100 == 2, "%s: good", want->what);
        check_int(want->attempts < 0 ? got.attempts >= -want->attempts : got.attempts == want->attempts, 1,
                  "%s: %d attempts", want->what, got.attempts);
        check_text(got.status.reason, want->reason, "%s: reason", want->what);
        if (want->message)
            check_text(got.status.message, want->message, "%s: message", want->what);
        kube_answer_done(&got);
    }
    struct kube_answer got;
    struct error err = {0};
    kube_client_call(client, &(struct kube_call){.path = "/text"}, &got, &err);
    check_text(got.text, "line one\nline two\n", "the text");
    kube_answer_done(&got);
    kube_client_call(client, &(struct kube_call){.method = KUBE_POST, .path = "/budget/q", .body = "{}"}, &got, &err);
    check_true(kube_status_has_cause(&got.status, "DisruptionBudget"), "the budget's cause");
    check_text(got.status.kind, "pods", "what it is about");
    check_int(got.retry_after_ms, 10000, "when to come again");
    check_int(err.code, ERROR_TOO_MANY, "the error's code");
    check_text(err.message, "Kubernetes: /budget/q: 429 TooManyRequests: would violate", "the error");
    kube_answer_done(&got);
}

static const char *text_of(const json_t *body, const char *a, const char *b)
{
    const json_t *value = json_object_get(body, a);
    const char *text = json_string_value(b ? json_object_get(value, b) : value);
    return text ? text : "";
}

static void check_what_is_sent(struct kube_client *client)
{
    struct buffer path, query;
    struct kube_answer got;
    buffer_init(&path, 0);
    buffer_init(&query, 0);
    kube_path(&path, "/echo/%s/pods/%s", "a/../b", "\xc3\xa4 ?");
    kube_query(&query, "labelSelector", "a!=b,c in (d)");
    kube_query(&query, "fieldManager", NULL);
    kube_query(&query, "limit", "5");
    struct kube_call call = {.method = KUBE_PATCH,
                             .path = path.data,
                             .query = query.data,
                             .body = "{\"x\":1}",
                             .content_type = KUBE_MERGE_PATCH};
    check_int(kube_client_call(client, &call, &got, NULL), 0, "a patch");
    check_text(text_of(got.body, "method", NULL), "PATCH", "its method");
    check_text(text_of(got.body, "path", NULL),
               "/echo/a%2F..%2Fb/pods/%C3%A4%20%3F?labelSelector=a%21%3Db%2Cc%20in%20%28d%29&limit=5", "its path");
    check_text(text_of(got.body, "sent", NULL), "{\"x\":1}", "its body");
    check_text(text_of(got.body, "headers", "content-type"), KUBE_MERGE_PATCH, "its type");
    check_text(text_of(got.body, "headers", "accept"), "application/json", "what it accepts");
    check_text(text_of(got.body, "headers", "authorization"), "Bearer secret", "its token");
    check_text(text_of(got.body, "headers", "expect"), "", "it waits for no 100");
    check_true(strncmp(text_of(got.body, "headers", "user-agent"), "prorata/", 8) == 0, "who it is from");
    check_text(got.warning, "unknown field \"x\"", "the warning");
    kube_answer_done(&got);
    buffer_done(&path);
    buffer_done(&query);
}

static void check_refreshed_token(int port)
{
    char path[128], user[200];
    struct kube_answer got;
    snprintf(path, sizeof(path), "%s/token", folder);
    FILE *file = fopen(path, "w");
    check_true(file && fputs("old", file) >= 0 && fclose(file) == 0, "%s", path);
    snprintf(user, sizeof(user), "tokenFile: %s", path);
    struct kube_access *access = plain_access(port, user);
    struct kube_client *client = client_of(access, NULL);
    kube_client_call(client, &(struct kube_call){.path = "/token/bad", .try_for_ms = -1}, &got, NULL);
    check_int(got.status.code, 401, "a token that is not good");
    check_int(got.attempts, 2, "is read again once");
    kube_answer_done(&got);
    kube_client_destroy(client);
    kube_access_destroy(access);

    access = plain_access(port, user);
    client = client_of(access, NULL);
    kube_client_call(client, &(struct kube_call){.path = "/echo"}, &got, NULL);
    kube_answer_done(&got);
    file = fopen(path, "w");
    check_true(file && fputs("good\n", file) >= 0 && fclose(file) == 0, "%s", path);
    check_int(kube_client_call(client, &(struct kube_call){.method = KUBE_POST, .path = "/token/x", .body = "{}"}, &got,
                               NULL),
              0, "a token that was replaced");
    check_int(got.attempts, 2, "after one refusal");
    kube_answer_done(&got);
    kube_client_destroy(client);
    kube_access_destroy(access);
}

struct tally {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done, good, stopped;
};

static void count_answer(void *context, struct kube_answer *answer)
{
    struct tally *tally = context;
    pthread_mutex_lock(&tally->lock);
    tally->done++;
    tally->good += kube_answer_is_good(answer) && json_is_object(answer->body);
    tally->stopped += answer->outcome == KUBE_STOPPED;
    pthread_cond_signal(&tally->changed);
    pthread_mutex_unlock(&tally->lock);
}

static void wait_for(struct tally *tally, int count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&tally->lock);
    while (tally->done < count) {
        if (pthread_cond_timedwait(&tally->changed, &tally->lock, &until) == 0)
            continue;
        printf("%d of %d calls have no end\n", count - tally->done, count);
        exit(1); // they still know the tally
    }
    pthread_mutex_unlock(&tally->lock);
}

static void check_many(struct kube_client *client)
{
    enum {
        MANY = 300
    };
    struct tally tally = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct kube_call call = {.method = KUBE_POST, .path = "/echo", .body = "{}"};
    for (int i = 0; i < MANY; i++)
        kube_client_submit(client, &call, count_answer, &tally);
    wait_for(&tally, MANY);
    check_int(tally.good, MANY, "all are answered");
    struct kube_client_counts counts;
    kube_client_read_counts(client, &counts);
    check_int(counts.open, 0, "none is open");
}

static void check_stop(struct kube_access *access)
{
    struct tally tally = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct kube_client *client = client_of(access, NULL);
    struct kube_call slow = {.method = KUBE_POST, .path = "/slow/20", .body = "{}"};
    for (int i = 0; i < 40; i++) // 32 in flight, 8 waiting
        kube_client_submit(client, &slow, count_answer, &tally);
    kube_client_submit(client, &(struct kube_call){.path = "/flaky/stop/503/9/50", .try_for_ms = 100000}, count_answer,
                       &tally);
    struct kube_client_counts counts = {0};
    struct kube_answer got;
    for (int i = 0; i < 100000 && counts.sent_again == 0; i++) { // until the one that failed waits for its next try
        kube_client_call(client, &(struct kube_call){.path = "/echo"}, &got, NULL);
        check_int(got.status.code, 200, "reads go beside slow writes");
        kube_answer_done(&got);
        kube_client_read_counts(client, &counts);
    }
    check_int(counts.sent_again, 1, "one is to be sent again");
    kube_client_stop(client);
    wait_for(&tally, 41);
    check_int(tally.stopped, 41, "all are stopped, and no answer is waited for");
    check_int(kube_client_call(client, &(struct kube_call){.path = "/echo"}, &got, NULL), -1, "after the stop");
    check_int(got.outcome, KUBE_STOPPED, "nothing is sent");
    kube_answer_done(&got);
    kube_client_destroy(client);
}

static void check_nobody_there(void)
{
    struct kube_access *access = plain_access(1, "token: a");
    struct kube_client *client = client_of(access, NULL);
    struct kube_answer got;
    struct kube_call call = {.method = KUBE_POST, .path = "/x", .body = "{}", .try_for_ms = 300};
    check_int(kube_client_call(client, &call, &got, NULL), -1, "nobody there");
    check_int(got.outcome, KUBE_NOT_SENT, "nothing was sent");
    check_true(got.attempts >= 1, "tried again");
    kube_answer_done(&got);
    kube_client_destroy(client);
    kube_access_destroy(access);
}

static void check_tls_case(const char *what, const char *cluster, const char *user, enum kube_outcome outcome,
                           bool is_certificate_bad)
{
    struct kube_access *access = access_of(cluster, user);
    struct kube_client *client = client_of(access, NULL);
    struct kube_answer got;
    kube_client_call(client, &(struct kube_call){.path = "/echo"}, &got, NULL);
    check_int(got.outcome, outcome, "%s: %s", what, got.status.message);
    check_int(got.is_certificate_bad, is_certificate_bad, "%s: whose certificate", what);
    kube_answer_done(&got);
    kube_client_destroy(client);
    kube_access_destroy(access);
}

static void trust(const char *authority)
{
    char command[200];
    snprintf(command, sizeof(command), "cp %s/%s.pem %s/trust.pem", folder, authority, folder);
    check_int(system(command), 0, "the file of authorities");
}

static __attribute__((noinline)) enum kube_outcome ask(struct kube_client *client)
{
    struct kube_answer got;
    kube_client_call(client, &(struct kube_call){.path = "/echo"}, &got, NULL);
    enum kube_outcome outcome = got.outcome;
    kube_answer_done(&got);
    return outcome;
}

// The authority of a cluster is replaced while a client lives: its file is read again 5 s after the last refusal.
static __attribute__((noinline)) void check_new_authority(int port)
{
    char cluster[300];
    snprintf(cluster, sizeof(cluster),
             "server: 'https://127.0.0.1:%d', certificate-authority: %s/trust.pem, tls-server-name: kubernetes", port,
             folder);
    trust("other");
    struct kube_access *access = access_of(cluster, "token: a");
    struct kube_client *client = client_of(access, NULL);
    check_int(ask(client), KUBE_NOT_SENT, "an authority of before");
    trust("ca");
    enum kube_outcome outcome = KUBE_NOT_SENT;
    for (int64_t from_us = timestamp_monotonic_us();
         outcome != KUBE_ANSWERED && timestamp_monotonic_us() - from_us < 20 * 1000000;)
        if ((outcome = ask(client)) != KUBE_ANSWERED)
            usleep(100000);
    check_int(outcome, KUBE_ANSWERED, "its new one");
    kube_client_destroy(client);
    kube_access_destroy(access);
}

static void check_tls(void)
{
    struct side_program server;
    char command[2048], cluster[600], user[400];
    snprintf(
        command, sizeof(command),
        "cd %s && exec >log 2>&1 && for a in ca other; do openssl req -x509 -newkey ec -pkeyopt "
        "ec_paramgen_curve:P-256 -nodes -keyout $a.key -out $a.pem -days 2 -subj /CN=$a || exit 1; done && for c in "
        "server client; do openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $c.key -out "
        "$c.csr -subj /CN=$c && echo subjectAltName=DNS:kubernetes >ext && openssl x509 -req -in $c.csr -CA ca.pem "
        "-CAkey ca.key -CAcreateserial -days 2 -extfile ext -out $c.pem || exit 1; done",
        folder);
    check_int(system(command), 0, "certificates");
    side_program_start(&server, (const char *const[]){"/usr/bin/python3", STAND_IN, folder, NULL});
#define AT "server: 'https://127.0.0.1:%d', certificate-authority: %s/"
    snprintf(cluster, sizeof(cluster), AT "ca.pem, tls-server-name: kubernetes", server.port, folder);
    check_tls_case("a name of its own", cluster, "token: a", KUBE_ANSWERED, false);
    snprintf(user, sizeof(user), "client-certificate: %s/client.pem, client-key: %s/client.key", folder, folder);
    check_tls_case("a client's certificate", cluster, user, KUBE_ANSWERED, false);
    snprintf(user, sizeof(user), "client-certificate: %s/client.pem, client-key: %s/ca.key", folder, folder);
    check_tls_case("a key that does not fit", cluster, user, KUBE_NO_CREDENTIALS, false);
    snprintf(user, sizeof(user), "client-certificate: %s/none.pem, client-key: %s/ca.key", folder, folder);
    check_tls_case("no certificate", cluster, user, KUBE_NO_CREDENTIALS, false);
    snprintf(cluster, sizeof(cluster), AT "ca.pem", server.port, folder);
    check_tls_case("another name", cluster, "token: a", KUBE_NOT_SENT, true);
    snprintf(cluster, sizeof(cluster), AT "other.pem, tls-server-name: kubernetes", server.port, folder);
    check_tls_case("another authority", cluster, "token: a", KUBE_NOT_SENT, true);
    snprintf(cluster, sizeof(cluster), "server: 'https://127.0.0.1:%d', tls-server-name: kubernetes", server.port);
    check_tls_case("the system's authorities", cluster, "token: a", KUBE_NOT_SENT, true);
    check_new_authority(server.port);
    side_program_stop(&server);
}

struct try_case {
    enum kube_outcome outcome;
    int code, attempts;
    int64_t retry_after_ms;
    bool is_repeatable, is_renewed;
    int64_t least, most;
};

static const struct try_case TRIES[] = {
    {KUBE_ANSWERED, 401, 1, -1, false, false, 0, 0},         {KUBE_ANSWERED, 401, 2, -1, true, true, -1, -1},
    {KUBE_ANSWERED, 429, 1, 7000, false, false, 7000, 7000}, {KUBE_ANSWERED, 429, 3, -1, false, false, 0, 2000},
    {KUBE_ANSWERED, 429, 10, 1000, true, false, -1, -1},     {KUBE_ANSWERED, 500, 1, -1, true, false, 0, 500},
    {KUBE_ANSWERED, 500, 9, -1, true, false, 0, 15000},      {KUBE_ANSWERED, 501, 1, -1, true, false, -1, -1},
    {KUBE_ANSWERED, 503, 1, 1000, false, false, -1, -1},     {KUBE_ANSWERED, 200, 1, -1, true, false, -1, -1},
    {KUBE_ANSWERED, 410, 1, -1, true, false, -1, -1},        {KUBE_NOT_SENT, 0, 1, -1, false, false, 0, 500},
    {KUBE_NO_ANSWER, 0, 1, -1, false, false, -1, -1},        {KUBE_NO_ANSWER, 0, 1, -1, true, false, 0, 500},
    {KUBE_BAD_ANSWER, 200, 1, -1, true, false, -1, -1},      {KUBE_STOPPED, 0, 1, -1, true, false, -1, -1},
};

static void check_tries(void)
{
    for (size_t i = 0; i < COUNT(TRIES); i++) {
        const struct try_case *want = &TRIES[i];
        struct kube_answer answer = {.outcome = want->outcome,
                                     .status.code = want->code,
                                     .attempts = want->attempts,
                                     .retry_after_ms = want->retry_after_ms};
        struct kube_try attempt = {
            .answer = &answer, .is_repeatable = want->is_repeatable, .is_renewed = want->is_renewed};
        int64_t least = INT64_MAX, most = INT64_MIN;
        for (uint32_t chance = 0; chance < 40000; chance += 7) {
            int64_t wait_ms = kube_try_again_after(&attempt, chance);
            least = wait_ms < least ? wait_ms : least;
            most = wait_ms > most ? wait_ms : most;
        }
        check_int(least, want->least, "try case %zu: the least wait", i);
        check_true(most <= want->most && (want->most <= 0 || most > want->most * 9 / 10),
                   "try case %zu: the most wait is %" PRId64, i, most);
    }
}

static void check_pace(void)
{
    struct kube_pace pace;
    int64_t now_us = 1000000;
    int sent = 0;
    kube_pace_init(&pace, 100, now_us);
    for (; now_us < 11000000; now_us += 1000)
        sent += kube_pace_take(&pace, now_us);
    check_true(sent > 990 && sent < 1040, "100 a second for 10 s: %d", sent);
    kube_pace_slow(&pace, now_us);
    kube_pace_slow(&pace, now_us + 10);
    check_int((int64_t)(pace.rate * 10), 500, "halved once for refusals at one time");
    check_int(kube_pace_take(&pace, now_us + 10), 0, "and nothing goes at once");
    check_true(kube_pace_wait_ms(&pace) <= 20 && kube_pace_wait_ms(&pace) > 10, "the wait for the next");
    kube_pace_take(&pace, now_us + 1000000);
    check_true(pace.rate > 54.9 && pace.rate < 55.1, "a tenth more after a second: %f", pace.rate);
    for (int i = 1; i <= 20; i++)
        kube_pace_slow(&pace, now_us + i * 2000000);
    check_true(pace.rate >= 5, "never to nothing");
    kube_pace_take(&pace, now_us + 3600000000);
    check_int((int64_t)pace.rate, 100, "and never faster than the cap");
}

int main(void)
{
    struct side_program server;
    char command[300];
    if (!mkdtemp(folder))
        return 1;
    check_tries();
    check_pace();
    side_program_start(&server, (const char *const[]){"/usr/bin/python3", STAND_IN, "http", NULL});
    struct kube_access *access = plain_access(server.port, "token: secret");
    struct kube_client *client = client_of(access, NULL);
    check_calls(client);
    check_what_is_sent(client);
    check_many(client);
    kube_client_destroy(client);
    check_stop(access);
    kube_access_destroy(access);
    check_refreshed_token(server.port);
    check_nobody_there();
    side_program_stop(&server);
    check_tls();
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    check_int(system(command), 0, "%s", command);
    return check_finish();
}
