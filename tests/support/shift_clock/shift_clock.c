// Preloaded, it makes the wall clock of a program jump: to every answer it adds the seconds that the file
// $PRORATA_SHIFT_CLOCK holds. The file is read anew at each call, so one write moves all programs that look at it, as
// settimeofday would. A wait until a time of the wall clock goes by the moved clock too; monotonic clocks are left
// alone.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    WALL_CLOCK_FROM_S = 1000 * 1000 * 1000 // a monotonic clock would have to run for thirty years
};

static time_t shift_s(void)
{
    char text[32];
    const char *path = getenv("PRORATA_SHIFT_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return (time_t)strtoll(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, out);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += shift_s();
    return rc;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict lock,
                           const struct timespec *restrict until)
{
    struct timespec moved = *until;
    if (moved.tv_sec < WALL_CLOCK_FROM_S)
        return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &moved);
    moved.tv_sec -= shift_s();
    return pthread_cond_clockwait(cond, lock, CLOCK_REALTIME, &moved);
}
