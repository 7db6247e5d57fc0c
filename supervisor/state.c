#include "supervisor/state.h"

#include "supervisor/pod_folder.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    STAT_START_TIME = 22 // the field's number in /proc/PID/stat, from 1
};

int64_t state_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool state_write(const char *format, ...)
{
    char record[POD_RECORD_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(record, sizeof(record) - 1, format, args);
    va_end(args);
    if (length < 0)
        return false;
    if ((size_t)length > sizeof(record) - 2)
        length = (int)sizeof(record) - 2;
    record[length] = '\n';
    return write(POD_STATE_FD, record, (size_t)length + 1) == length + 1;
}

void state_wake(const char *uuid)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    // Through the inherited descriptor: the path itself may be longer than an address holds.
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" POD_WAKE_SOCKET, POD_HOME_FD);
    // Nobody listens, or too many wake it at once: the server looks at all folders when it starts and now and then.
    (void)!sendto(fd, uuid, strlen(uuid), 0, (const struct sockaddr *)&address, sizeof(address));
    close(fd);
}

unsigned long long state_start_time(int pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char *field = strrchr(text, ')'); // the second field may hold anything, blanks and parentheses too
    for (int i = 2; field && i < STAT_START_TIME; i++)
        field = strchr(field + 1, ' ');
    return field ? strtoull(field + 1, NULL, 10) : 0;
}
