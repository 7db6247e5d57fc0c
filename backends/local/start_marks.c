#include "backends/local/start_marks.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "starting"
#define NOBODY "------------------------------------"

enum {
    FILE_MODE = 0600,
    LINE_SIZE = 2 * UUID_SIZE + 8, // `N POD WORKLOAD`; N is 0 in the first line: who is at work
    TEXT_SIZE = LINE_SIZE * (START_MARKS_KEPT + 1)
};

static size_t write_line(char *line, size_t size, int count, const char *pod, const char *workload)
{
    return (size_t)snprintf(line, size, "%d %.36s %.36s\n", count, pod, workload);
}

static void put(const struct start_marks *marks, const char *text, size_t length)
{
    if (marks->fd >= 0 && pwrite(marks->fd, text, length, 0) != (ssize_t)length)
        log_write(LOG_DEBUG, "backends", "the mark of a start cannot be written: %s", strerror(errno));
}

static void save(const struct start_marks *marks)
{
    char text[TEXT_SIZE];
    size_t length = write_line(text, sizeof(text), 0, NOBODY, NOBODY);
    for (size_t i = 0; i < marks->death_count; i++)
        length += write_line(text + length, sizeof(text) - length, marks->deaths[i].count, marks->deaths[i].pod,
                             marks->deaths[i].workload);
    put(marks, text, length);
    if (marks->fd >= 0 && ftruncate(marks->fd, (off_t)length) < 0)
        log_write(LOG_DEBUG, "backends", "the marks of starts cannot be cut: %s", strerror(errno));
}

static struct start_death *find(const struct start_marks *marks, const char *workload)
{
    for (size_t i = 0; i < marks->death_count; i++)
        if (strcmp(marks->deaths[i].workload, workload) == 0)
            return (struct start_death *)&marks->deaths[i];
    return NULL;
}

static void drop(struct start_marks *marks, size_t index)
{
    marks->death_count--;
    memmove(&marks->deaths[index], &marks->deaths[index + 1], (marks->death_count - index) * sizeof(marks->deaths[0]));
}

static void add(struct start_marks *marks, const struct start_death *death)
{
    if (marks->death_count == START_MARKS_KEPT)
        drop(marks, 0);
    marks->deaths[marks->death_count++] = *death;
}

static void count_death(struct start_marks *marks, const struct start_death *death)
{
    struct start_death *known = find(marks, death->workload);
    if (!known) {
        add(marks, death);
        known = &marks->deaths[marks->death_count - 1];
    }
    memcpy(known->pod, death->pod, sizeof(known->pod));
    known->count++;
    log_write(LOG_WARN, "backends", "the server ended while it started a pod pod=%s workload=%s times=%d", known->pod,
              known->workload, known->count);
}

static void read_lines(struct start_marks *marks, char *text)
{
    struct start_death worked = {0};
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        struct start_death death;
        *end = '\0';
        if (sscanf(line, "%d %36s %36s", &death.count, death.pod, death.workload) != 3 || !uuid_is_valid(death.pod) ||
            !uuid_is_valid(death.workload))
            continue;
        if (death.count == 0)
            worked = death;
        else
            add(marks, &death);
    }
    if (worked.pod[0])
        count_death(marks, &worked);
}

void start_marks_open(struct start_marks *marks, int home_fd)
{
    char text[TEXT_SIZE];
    *marks =
        (struct start_marks){.fd = openat(home_fd, FILE_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE)};
    ssize_t length = marks->fd < 0 ? -1 : read(marks->fd, text, sizeof(text) - 1);
    if (length < 0) {
        log_write(LOG_WARN, "backends", "a pod whose start ends the server will be tried at each start: %s: %s",
                  FILE_NAME, strerror(errno));
        start_marks_close(marks);
        return;
    }
    text[length] = '\0';
    read_lines(marks, text);
    save(marks);
}

void start_marks_close(struct start_marks *marks)
{
    if (marks->fd >= 0)
        close(marks->fd);
    marks->fd = -1;
}

void start_marks_begin(const struct start_marks *marks, const char *pod, const char *workload)
{
    char line[LINE_SIZE];
    put(marks, line, write_line(line, sizeof(line), 0, pod, workload));
}

void start_marks_end(const struct start_marks *marks)
{
    start_marks_begin(marks, NOBODY, NOBODY);
}

bool start_marks_forbid(const struct start_marks *marks, const char *workload)
{
    const struct start_death *death = find(marks, workload);
    return death && death->count >= START_DEATHS_MAX;
}

void start_marks_started(struct start_marks *marks, const char *pod)
{
    for (size_t i = 0; i < marks->death_count; i++)
        if (strcmp(marks->deaths[i].pod, pod) == 0) {
            drop(marks, i);
            save(marks);
            return;
        }
}

void start_marks_forget(struct start_marks *marks, const char *workload)
{
    const struct start_death *death = find(marks, workload);
    if (!death)
        return;
    drop(marks, (size_t)(death - marks->deaths));
    save(marks);
}
