#include "daemon/notify.h"

#include "base/log.h"
#include "base/timestamp.h"
#include "daemon/health.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    READY_LOOK_MS = 50,
    STARTING_LIMIT_S = 300, // how long a step of a migration may show no progress: the sync of a large file
    STATUS_MS = 1000,
    ALIVE_LIMIT_US = 3000000 // the reconciler's turns are a second apart
};

static int connect_to(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if ((path[0] != '/' && path[0] != '@') || length < 2 || length >= sizeof(name.sun_path)) {
        errno = EINVAL;
        return -1;
    }
    memcpy(name.sun_path, path, length);
    if (path[0] == '@') // a name that is in no folder
        name.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        connect(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
        int cause = errno;
        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

static int64_t read_watchdog_us(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *owner = getenv("WATCHDOG_PID");
    if (!text || (owner && strtoll(owner, NULL, 10) != (long long)getpid()))
        return 0;
    char *end;
    errno = 0;
    long long watchdog_us = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && watchdog_us > 0 ? watchdog_us : 0;
}

void notifier_init(struct notifier *notifier)
{
    const char *path = getenv("NOTIFY_SOCKET");
    *notifier = (struct notifier){.fd = -1};
    if (path) {
        char text[LOG_TEXT_SIZE];
        notifier->watchdog_us = read_watchdog_us();
        notifier->fd = connect_to(path);
        if (notifier->fd < 0)
            log_write(LOG_WARN, "daemon", "the service manager is not told anything: %s path=%s", strerror(errno),
                      log_text(path, text));
    }
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void notifier_done(struct notifier *notifier)
{
    if (notifier->fd >= 0)
        close(notifier->fd);
    notifier->fd = -1;
}

// Whoever doesn't read is not waited for.
static bool send_text(const struct notifier *notifier, const char *text)
{
    size_t length = strlen(text);
    return send(notifier->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

static void tell_status(struct notifier *notifier, struct health *health)
{
    struct error reason = {0};
    char text[sizeof(reason.message) + 32];
    const char *status = health_check(health, &reason) < 0 ? reason.message : "serving";
    if (strcmp(status, notifier->status_told) == 0)
        return;
    snprintf(text, sizeof(text), "STATUS=%s", status);
    if (send_text(notifier, text))
        snprintf(notifier->status_told, sizeof(notifier->status_told), "%s", status);
}

static void tell_progress(struct notifier *notifier, const struct db_opening *opening)
{
    char text[64];
    int64_t progress = atomic_load(&opening->progress);
    if (progress == notifier->progress_told)
        return;
    snprintf(text, sizeof(text), "EXTEND_TIMEOUT_USEC=%" PRId64, (int64_t)STARTING_LIMIT_S * 1000000);
    if (send_text(notifier, text))
        notifier->progress_told = progress;
}

static void tell_alive(struct notifier *notifier, const struct health *health)
{
    int64_t now_us = timestamp_monotonic_us(), half_us = notifier->watchdog_us / 2;
    if (now_us - notifier->alive_told_us < half_us && notifier->alive_told_us)
        return;
    if (!health_goes_on(health, half_us > ALIVE_LIMIT_US ? half_us : ALIVE_LIMIT_US))
        return;
    if (send_text(notifier, "WATCHDOG=1"))
        notifier->alive_told_us = now_us;
}

int notifier_tell(struct notifier *notifier, struct health *health)
{
    if (notifier->fd < 0)
        return -1;
    tell_status(notifier, health);
    if (!notifier->is_ready_told) {
        tell_progress(notifier, &health->opening);
        notifier->is_ready_told = health_has_begun(health) && send_text(notifier, "READY=1");
        return READY_LOOK_MS;
    }
    if (notifier->watchdog_us)
        tell_alive(notifier, health);
    int64_t half_ms = notifier->watchdog_us / 2000;
    return half_ms > 0 && half_ms < 2 * STATUS_MS ? (int)(half_ms / 2) + 1 : STATUS_MS;
}

void notifier_tell_stopping(struct notifier *notifier)
{
    if (notifier->fd >= 0)
        send_text(notifier, "STOPPING=1\nSTATUS=stopping");
}
