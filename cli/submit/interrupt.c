#include "cli/submit/interrupt.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    BY_SIGNAL = 128
};

struct interrupt {
    struct cli *cli;
    struct client client; // its arena is cleared after each call
    struct arena arena;
    const char *uuid, *name, *project;
    int signal_fd, over_fd;
    pthread_t thread;
    bool has_thread, has_terminal, is_asked;
    atomic_int stopped_by;
};

static void stop(struct interrupt *interrupt, int signal)
{
    struct error why = {0};
    const char *path = arena_printf(&interrupt->arena, "/api/v1/workloads/trainings/%s/suspend", interrupt->uuid);
    fprintf(stderr, "Stopping %s\n", interrupt->name);
    atomic_store(&interrupt->stopped_by, signal);
    if (client_call(&interrupt->client, "POST", path, NULL, NULL, &why) < 0) {
        atomic_store(&interrupt->stopped_by, 0);
        fprintf(stderr, "%s was not stopped: %s\n", interrupt->name, why.message);
    }
    arena_clear(&interrupt->arena);
}

static void ask(struct interrupt *interrupt)
{
    interrupt->is_asked = true;
    fprintf(stderr, "\nStop %s? y: stop it; n: leave it running. [y/n] ", interrupt->name);
}

static void leave(const struct interrupt *interrupt)
{
    fprintf(stderr, "%s runs on. Follow it: %s workload logs %s -p %s --follow\n", interrupt->name,
            interrupt->cli->program, interrupt->name, interrupt->project);
    _exit(BY_SIGNAL + SIGINT); // the other thread may be inside of a call that lasts
}

static void take_signal(struct interrupt *interrupt)
{
    struct signalfd_siginfo info;
    if (read(interrupt->signal_fd, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGINT && interrupt->has_terminal && !interrupt->is_asked) {
        ask(interrupt);
        return;
    }
    interrupt->is_asked = false;
    stop(interrupt, (int)info.ssi_signo);
}

static void take_answer(struct interrupt *interrupt)
{
    char answer[64];
    ssize_t length = read(STDIN_FILENO, answer, sizeof(answer));
    if (length < 0 && errno == EINTR)
        return;
    interrupt->is_asked = false;
    if (length <= 0 || answer[0] == 'n' || answer[0] == 'N')
        leave(interrupt);
    if (answer[0] == 'y' || answer[0] == 'Y')
        stop(interrupt, SIGINT);
    else
        ask(interrupt);
}

static void *attend(void *context)
{
    struct interrupt *interrupt = context;
    for (;;) {
        struct pollfd fds[] = {{.fd = interrupt->over_fd, .events = POLLIN},
                               {.fd = interrupt->signal_fd, .events = POLLIN},
                               {.fd = interrupt->is_asked ? STDIN_FILENO : -1, .events = POLLIN}};
        if (poll(fds, 3, -1) < 0)
            continue;
        if (fds[0].revents)
            return NULL;
        if (fds[1].revents)
            take_signal(interrupt);
        else if (fds[2].revents)
            take_answer(interrupt);
    }
}

struct interrupt *interrupt_create(struct cli *cli, struct error *err)
{
    struct interrupt *interrupt = memory_array(1, sizeof(*interrupt));
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    *interrupt = (struct interrupt){.cli = cli, .has_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO)};
    arena_init(&interrupt->arena);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    interrupt->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    interrupt->over_fd = eventfd(0, EFD_CLOEXEC);
    if (interrupt->signal_fd < 0 || interrupt->over_fd < 0) {
        error_set(err, ERROR_INTERNAL, "signals: %s", strerrordesc_np(errno));
        goto failed;
    }
    if (client_open(cli->client.url, cli->client.token, &interrupt->arena, &interrupt->client, err) < 0)
        goto failed;
    interrupt->client.url = cli->client.url;
    interrupt->client.socket = cli->client.socket;
    return interrupt;
failed:
    interrupt_destroy(interrupt);
    return NULL;
}

void interrupt_begin(struct interrupt *interrupt, const char *workload_uuid, const char *name, const char *project)
{
    interrupt->uuid = workload_uuid;
    interrupt->name = name;
    interrupt->project = project;
    interrupt->has_thread = pthread_create(&interrupt->thread, NULL, attend, interrupt) == 0;
}

int interrupt_signal(const struct interrupt *interrupt)
{
    return atomic_load(&interrupt->stopped_by);
}

void interrupt_destroy(struct interrupt *interrupt)
{
    uint64_t one = 1;
    if (!interrupt)
        return;
    if (interrupt->has_thread) {
        (void)!write(interrupt->over_fd, &one, sizeof(one));
        pthread_join(interrupt->thread, NULL);
    }
    if (interrupt->signal_fd >= 0)
        close(interrupt->signal_fd);
    if (interrupt->over_fd >= 0)
        close(interrupt->over_fd);
    client_close(&interrupt->client);
    arena_done(&interrupt->arena);
    free(interrupt);
}
