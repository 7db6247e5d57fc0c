#include "daemon/daemon.h"

#include "api/access/auth.h"
#include "api/access/openid.h"
#include "api/access/sign_in_crowd.h"
#include "api/api_server.h"
#include "api/audit/audit.h"
#include "api/audit/keeper.h"
#include "api/http/change_feed.h"
#include "api/http/listen.h"
#include "api/notifications/notifications.h"
#include "api/organisation/quota_rights.h"
#include "apps/apps.h"
#include "backends/backend.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "daemon/backend_claim.h"
#include "daemon/backend_kinds.h"
#include "daemon/backend_site.h"
#include "daemon/credential_vault.h"
#include "daemon/data_folder.h"
#include "daemon/first_start.h"
#include "daemon/greeting.h"
#include "daemon/health.h"
#include "daemon/notify.h"
#include "daemon/outside.h"
#include "daemon/sealed_secrets.h"
#include "daemon/settings.h"
#include "daemon/socket.h"
#include "db/db.h"
#include "db/settings.h"
#include "journal/journal.h"
#include "reconciler/reconciler.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DRAIN_MS = 3000,
    LOG_STOP_MS = 500,
    START_STACK_BYTES = 8 << 20,
    START_STEP_MS = 50,
    EXIT_BAD_SETTING = 2
};

struct daemon {
    struct arena arena; // the starting thread's until it is joined
    struct settings settings;
    struct data_folder folder;
    bool has_folder, is_temporary;
    struct db *db;
    struct credential_vault credentials;
    struct backend_vault vault; // of the backend
    struct backend backend;
    struct journal *journal; // NULL: none is kept
    struct reconciler *reconciler;
    struct server server;
    struct door door; // the Unix socket
    const struct backend_kind *kind;
    struct auth *auth;
    struct audit *audit;
    struct openid *openid;
    struct notifications *notifications;
    struct health health;
    struct notifier notifier;
    int signal_fd, started_fd; // what the main thread waits for; -1: not there
    struct error start_error;
    struct error step_told; // what a start that takes long is at
    bool has_started;       // by the starting thread, for who has joined it
    bool is_serving;
    bool is_first;
    const char *password; // made up on this start; NULL otherwise
};

static enum first_start_extras extras_of(const struct settings *settings)
{
    if (settings->scenario && strcmp(settings->scenario, "preemption") == 0)
        return EXTRAS_PREEMPTION;
    return settings->quick_start || settings->scenario ? EXTRAS_QUOTA : EXTRAS_NONE;
}

static int fill_database(struct daemon *daemon, struct error *err)
{
    struct auth_options options = {.data_folder = daemon->folder.path,
                                   .token_life_s = daemon->settings.token_lifetime_s,
                                   .password_rules = daemon->settings.password_rules,
                                   .places = &daemon->server.places};
    bool has_changed = false;
    if (auth_create(&options, timestamp_now_ms(), &daemon->auth, err) < 0)
        return -1;
    if (first_start_seed(daemon->db, daemon->auth, daemon->folder.path, &daemon->arena, &daemon->password,
                         &daemon->is_first, err) < 0 ||
        quota_rights_tell(daemon->db, err) < 0 ||
        sealed_secrets_check(daemon->db, daemon->auth->sealing, &daemon->arena, &daemon->server.warning, err) < 0 ||
        sign_in_crowd_remind(daemon->db, daemon->settings.trusted_proxies_count > 0, timestamp_now_ms(), err) < 0 ||
        backend_claim_folder(daemon->db, &daemon->settings, &daemon->arena, &has_changed, err) < 0 ||
        (daemon->kind->is_machine && first_start_name_cluster(daemon->db, NULL, err) < 0))
        return -1;
    daemon->credentials = (struct credential_vault){daemon->db, daemon->auth->sealing};
    daemon->vault = credential_vault_of(&daemon->credentials);
    struct backend_site site = {.settings = &daemon->settings,
                                .folder = &daemon->folder,
                                .db = daemon->db,
                                .arena = &daemon->arena,
                                .is_first = daemon->is_first,
                                .is_new = daemon->is_first || has_changed,
                                .vault = &daemon->vault,
                                .places = &daemon->server.places};
    if (daemon->kind->create(&site, &daemon->backend, err) < 0)
        return -1;
    if (!daemon->is_first)
        return 0;
    return first_start_finish(daemon->db, extras_of(&daemon->settings), &daemon->arena, err);
}

static int64_t days_ms(double days)
{
    return (int64_t)(days * 86400000);
}

static int open_journal(struct daemon *daemon, struct error *err)
{
    const struct settings *settings = &daemon->settings;
    if (settings->journal_bytes == 0)
        return 0;
    struct journal_options options = {.folder = daemon->folder.journal,
                                      .keep_ms = days_ms(settings->journal_days),
                                      .bound_bytes = settings->journal_bytes};
    return journal_open(&options, timestamp_now_ms(), &daemon->journal, err);
}

static int open_audit(struct daemon *daemon, struct error *err)
{
    struct audit_options options = {
        .db = daemon->db, .data = daemon->folder.path, .keep_ms = days_ms(daemon->settings.audit_days)};
    return audit_open(&options, &daemon->audit, err);
}

static int create_reconciler(struct daemon *daemon, struct error *err)
{
    if (open_journal(daemon, err) < 0)
        return -1;
    const struct settings *settings = &daemon->settings;
    int64_t grace_ms = (int64_t)(settings->staleness_grace_s * 1000);
    struct reconciler_options options = {
        .retry_delay_ms = (int64_t)(settings->retry_delay_s * 1000),
        .page_interval_ms = (int64_t)(settings->inference_interval_s * 1000),
        .staleness_grace_ms = grace_ms ? grace_ms : 1, // 0 is its default
        .search_budget_ms = settings->search_budget_ms,
        .retention = {.bound_bytes = settings->database_bytes,
                      .keep_ms = {[RETENTION_WORKLOADS] = days_ms(settings->deleted_days),
                                  [RETENTION_SAMPLES] = days_ms(settings->sample_days),
                                  [RETENTION_EVENTS] = days_ms(settings->event_days),
                                  [RETENTION_ALLOCATIONS] = days_ms(settings->allocation_days)},
                      .session_idle_ms = settings->token_lifetime_s * 1000},
        .places = &daemon->server.places,
        .journal = daemon->journal,
        .refused_folder = daemon->folder.refused,
    };
    return reconciler_create(daemon->db, &daemon->backend, &options, &daemon->reconciler, err);
}

static int start_serving(struct daemon *daemon, struct error *err)
{
    struct settings *settings = &daemon->settings;
    struct server *server = &daemon->server;
    server->config = (struct server_config){
        .data = daemon->folder.path,
        .listen_count = settings->listen_count,
        .proxy_count = settings->trusted_proxies_count,
        .threads = (int)settings->http_threads,
        .body_max_bytes = settings->body_max_bytes,
        .workload_max_bytes = settings->workload_max_bytes,
        .workload_bounds = {.per_project = settings->workloads_per_project,
                            .per_person = settings->workloads_per_person},
        .is_metrics_open = settings->metrics_open,
    };
    memcpy(server->config.listen, settings->listen, sizeof(server->config.listen));
    memcpy(server->config.proxies, settings->trusted_proxies, sizeof(server->config.proxies));
    server->check_ready = health_check;
    server->write_metrics = health_write_metrics;
    server->context = &daemon->health;
    atomic_store(&server->is_starting, true);
    if (door_prepare(settings, &daemon->arena, server, &daemon->door, err) < 0)
        return -1;
    if (api_server_start(server, err) < 0)
        return -1;
    daemon->is_serving = true;
    return 0;
}

// What the start has made is the handlers' from here on.
static void open_doors(struct daemon *daemon)
{
    struct server *server = &daemon->server;
    server->db = daemon->health.db = daemon->db;
    server->reconciler = daemon->health.reconciler = daemon->reconciler;
    server->auth = daemon->auth;
    server->audit = daemon->audit;
    server->audit_key = &daemon->audit->key;
    server->openid = daemon->openid;
    server->notifications = daemon->notifications;
    server->started_ms = timestamp_now_ms();
    atomic_store(&daemon->health.is_open, true);
    atomic_store(&server->is_starting, false);
}

// What is quick and needs no database: after it the probes are answered.
static int begin(struct daemon *daemon, struct error *err)
{
    for (size_t i = 0; i < daemon->settings.listen_count; i++)
        if (listen_check(daemon->settings.listen[i], err) < 0)
            return -1;
    if (data_folder_open(daemon->settings.data, &daemon->arena, &daemon->folder, err) < 0)
        return -1;
    daemon->has_folder = true;
    return start_serving(daemon, err);
}

// What may take minutes, where a migration changes a large database.
static int start(struct daemon *daemon, struct error *err)
{
    struct db_options options = {.opening = &daemon->health.opening,
                                 .path = daemon->folder.database,
                                 .has_been_used = daemon->folder.was_used,
                                 .read_limit_ms = (int64_t)(daemon->settings.read_limit_s * 1000)};
    if (db_open(&options, &daemon->db, err) < 0)
        return -1;
    if (atomic_load(&daemon->health.opening.is_cancelled))
        return error_set(err, ERROR_UNAVAILABLE, "ended before it was done");
    daemon->server.changes = change_feed_create(daemon->db);
    if (fill_database(daemon, err) < 0 || open_audit(daemon, err) < 0 ||
        outside_create_openid(&daemon->settings, daemon->db, daemon->auth, &daemon->server.places, &daemon->openid,
                              err) < 0 ||
        outside_create_notifications(&daemon->settings, daemon->db, daemon->auth, &daemon->notifications, err) < 0 ||
        create_reconciler(daemon, err) < 0 || reconciler_start(daemon->reconciler, err) < 0 ||
        notifications_start(daemon->notifications, err) < 0 ||
        outside_start_apps(&daemon->settings, &daemon->server, err) < 0)
        return -1;
    daemon->door.audit = daemon->audit;
    if (door_open(&daemon->door, &daemon->settings, daemon->db, daemon->is_first, &daemon->arena, &daemon->server,
                  err) < 0)
        return -1;
    open_doors(daemon);
    return daemon->kind->after_start ? daemon->kind->after_start(&daemon->settings, daemon->reconciler, err) : 0;
}

static void *start_main(void *context)
{
    struct daemon *daemon = context;
    daemon->has_started = start(daemon, &daemon->start_error) == 0;
    if (eventfd_write(daemon->started_fd, 1) < 0)
        abort(); // nobody would ever look
    return NULL;
}

static void stop(struct daemon *daemon)
{
    if (daemon->is_serving)
        api_server_stop(&daemon->server, DRAIN_MS);
    door_close(&daemon->door);
    door_done(&daemon->server);
    apps_stop(daemon->server.apps);
    reconciler_stop(daemon->reconciler);
    journal_close(daemon->journal);
    audit_close(daemon->audit);
    notifications_stop(daemon->notifications);
    openid_destroy(daemon->openid);
    backend_stop(&daemon->backend); // its threads open credentials
    auth_destroy(daemon->auth);
    db_close(daemon->db);
    notifications_destroy(daemon->notifications);
    change_feed_destroy(daemon->server.changes);
    reconciler_destroy(daemon->reconciler);
    backend_destroy(&daemon->backend);
    if (daemon->has_folder && daemon->is_temporary)
        data_folder_remove(&daemon->folder);
    if (daemon->has_folder)
        data_folder_close(&daemon->folder);
}

// Blocked in every thread: only the main one takes them.
static int block_signals(struct daemon *daemon, struct error *err)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP); // and does nothing
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    daemon->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    daemon->started_fd = eventfd(0, EFD_CLOEXEC);
    if (daemon->signal_fd < 0 || daemon->started_fd < 0)
        return error_set(err, ERROR_INTERNAL, "signals cannot be taken: %s", strerror(errno));
    return 0;
}

// A start without a migration is over before anybody could read a line about it.
static void log_step(struct daemon *daemon)
{
    struct error step = {0};
    if (health_is_migrating(&daemon->health) && health_check(&daemon->health, &step) < 0 &&
        strcmp(step.message, daemon->step_told.message) != 0) {
        log_write(LOG_INFO, "daemon", "%s port=%d", step.message, api_server_port(&daemon->server, 0));
        daemon->step_told = step;
    }
}

// Waits for a signal that ends the server, and returns it; 0: the start is done.
static int await(struct daemon *daemon, bool is_starting)
{
    for (;;) {
        struct signalfd_siginfo signal;
        struct pollfd polled[] = {{.fd = daemon->signal_fd, .events = POLLIN},
                                  {.fd = is_starting ? daemon->started_fd : -1, .events = POLLIN}};
        int timeout_ms = notifier_tell(&daemon->notifier, &daemon->health);
        if (is_starting) {
            log_step(daemon);
            timeout_ms = START_STEP_MS;
        }
        if (poll(polled, 2, timeout_ms) < 0 && errno != EINTR)
            abort(); // our own mistake
        if ((polled[0].revents & POLLIN) && read(daemon->signal_fd, &signal, sizeof(signal)) == sizeof(signal) &&
            signal.ssi_signo != SIGHUP)
            return (int)signal.ssi_signo;
        if (polled[1].revents & POLLIN)
            return 0;
    }
}

// The signal that came meanwhile, 0 where none did, or -1 where the start failed.
static int run_start(struct daemon *daemon, struct error *err)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, START_STACK_BYTES);
    int rc = pthread_create(&thread, &attributes, start_main, daemon);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the thread that starts: %s", strerror(rc));
    int received = await(daemon, true);
    if (received) {
        api_server_drain(&daemon->server);
        atomic_store(&daemon->health.opening.is_cancelled, true);
    }
    pthread_join(thread, NULL);
    if (daemon->has_started || received)
        return received;
    *err = daemon->start_error;
    return -1;
}

// A password that nobody has seen must not become the only one: without the mark's end the next start makes another.
static void greet(struct daemon *daemon)
{
    struct error err = {0};
    char text[LOG_TEXT_SIZE];
    if (greeting_print(&daemon->settings, &daemon->server, daemon->is_first, daemon->password) < 0 && daemon->password)
        log_write(LOG_WARN, "daemon",
                  "the administrator's password may not be known: standard output failed; unless somebody signs in, "
                  "the next start shows another cause=%s",
                  log_text(strerror(errno), text));
    else if (daemon->is_first && first_start_end(daemon->db, &err) < 0)
        log_write(LOG_WARN, "daemon",
                  "the first start could not be ended; unless somebody signs in, the next start begins again cause=%s",
                  log_text(err.message, text));
}

static int run(struct daemon *daemon)
{
    struct error err = {0};
    int status = 0, received = -1;
    daemon->signal_fd = daemon->started_fd = -1;
    daemon->door = (struct door){.listen_fd = -1, .file = {.lock_fd = -1}};
    notifier_init(&daemon->notifier);
    if (block_signals(daemon, &err) == 0 && log_start(&err) == 0 && begin(daemon, &err) == 0)
        received = run_start(daemon, &err);
    if (received == 0) {
        greet(daemon);
        received = await(daemon, false);
    }
    if (received > 0) {
        log_write(LOG_INFO, "daemon", "stopping signal=%s%s", received == SIGTERM ? "TERM" : "INT",
                  daemon->has_started ? "" : " before the start was done");
        notifier_tell_stopping(&daemon->notifier);
        api_server_drain(&daemon->server);
        if (daemon->server.changes)
            change_feed_wake(daemon->server.changes);
    } else {
        fprintf(stderr, "prorata: %s%s%s\n", err.message, err.details[0] ? ". " : "", err.details);
        status = err.code == ERROR_INTERNAL ? 1 : EXIT_BAD_SETTING;
    }
    stop(daemon);
    notifier_done(&daemon->notifier);
    if (daemon->signal_fd >= 0)
        close(daemon->signal_fd);
    if (daemon->started_fd >= 0)
        close(daemon->started_fd);
    log_stop(LOG_STOP_MS);
    return status;
}

static int prepare(struct daemon *daemon, int argc, char **argv, const char *command,
                   enum settings_outcome *out_outcome)
{
    struct error err = {0};
    arena_init(&daemon->arena);
    umask(0077); // whatever the folder comes to hold is its owner's alone
    if (sodium_init() < 0) {
        fputs("prorata: no source of random numbers\n", stderr);
        return 1;
    }
    json_object_seed(0);
    if (settings_read(argc, argv, command, &daemon->arena, &daemon->settings, out_outcome, &err) < 0) {
        fprintf(stderr, "prorata: %s%s%s\n", err.message, err.details[0] ? ". " : "", err.details);
        return EXIT_BAD_SETTING;
    }
    daemon->kind = backend_kind_find(daemon->settings.backend);
    log_configure((enum log_level)daemon->settings.log_level, daemon->settings.log_json);
    return 0;
}

int daemon_main_serve(int argc, char **argv)
{
    struct daemon *daemon = memory_array(1, sizeof(*daemon));
    enum settings_outcome outcome = SETTINGS_HELP_SHOWN;
    int status = prepare(daemon, argc, argv, "serve", &outcome);
    if (status == 0 && outcome == SETTINGS_READ && !daemon->settings.data) {
        fputs("prorata: --data: the folder for the database is missing\n", stderr);
        status = EXIT_BAD_SETTING;
    } else if (status == 0 && outcome == SETTINGS_READ) {
        status = run(daemon);
    }
    arena_done(&daemon->arena);
    free(daemon);
    return status;
}

int daemon_main_demo(int argc, char **argv)
{
    struct daemon *daemon = memory_array(1, sizeof(*daemon));
    enum settings_outcome outcome = SETTINGS_HELP_SHOWN;
    int status = prepare(daemon, argc, argv, "demo", &outcome);
    if (status == 0 && outcome == SETTINGS_READ) {
        struct settings *settings = &daemon->settings;
        const char *parent = getenv("TMPDIR");
        if (!settings->scenario)
            settings->scenario = "quota";
        if (strcmp(settings->scenario, "quota") != 0 && strcmp(settings->scenario, "preemption") != 0) {
            fprintf(stderr, "prorata: --scenario: quota or preemption, got %s\n", settings->scenario);
            status = EXIT_BAD_SETTING;
        } else if (!settings->data) {
            char *path = arena_printf(&daemon->arena, "%s/prorata-demo-XXXXXX", parent && *parent ? parent : "/tmp");
            settings->data = mkdtemp(path);
            daemon->is_temporary = true;
            if (!settings->data) {
                perror("prorata: cannot make a temporary folder");
                status = EXIT_BAD_SETTING;
            }
        }
        if (status == 0)
            status = run(daemon);
    }
    arena_done(&daemon->arena);
    free(daemon);
    return status;
}
