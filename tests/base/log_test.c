// The log and who reads it: nobody waits for a reader, lines stay whole and in order, and what is left out is counted.
#include "base/log.h"

#include "base/error.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINES = 30000,
    TEXT_SIZE = 8 << 20
};

static size_t read_some(int fd, char *text, size_t length)
{
    ssize_t got = read(fd, text + length, TEXT_SIZE - length - 1);
    length += got > 0 ? (size_t)got : 0;
    text[length] = '\0';
    return length;
}

// The numbers of the lines that came, which only grow; how many.
static int check_numbers(const char *text)
{
    int count = 0, last = -1, number;
    for (const char *at = text; (at = strstr(at, " number=")); at++) {
        number = atoi(at + strlen(" number="));
        check_true(number > last, "line %d after line %d", number, last);
        last = number;
        count++;
    }
    return count;
}

int main(void)
{
    int ends[2], kept = dup(STDERR_FILENO);
    struct error err = {0};
    char *text = calloc(1, TEXT_SIZE);
    check_true(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0, "a pipe in the place of standard error");
    check_int(log_start(&err), 0, "start");
    for (int i = 0; i < LINES; i++)
        log_write(LOG_INFO, "test", "a line that nobody reads yet number=%d", i);
    int64_t left_out = log_lines_left_out();
    check_true(left_out > 0 && left_out < LINES, "some are left out: %" PRId64, left_out);
    size_t length = 0;
    while (!strstr(text, "lines are left out") || length == 0)
        length = read_some(ends[0], text, length);
    log_write(LOG_INFO, "test", "the last number=%d", LINES);
    log_stop(10000);
    close(ends[1]);
    dup2(kept, STDERR_FILENO);
    for (size_t before = SIZE_MAX; before != length;) {
        before = length;
        length = read_some(ends[0], text, length);
    }
    check_int(check_numbers(text), LINES + 1 - left_out, "every other line came");
    char told[64];
    snprintf(told, sizeof(told), "lines=%" PRId64 "\n", left_out);
    check_true(strstr(text, told) != NULL, "and how many did not");
    check_true(text[length - 1] == '\n', "lines are whole");

    // Who never reads does not hold up the end.
    check_true(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0, "another pipe");
    check_int(log_start(&err), 0, "start again");
    for (int i = 0; i < LINES; i++)
        log_write(LOG_INFO, "test", "a line number=%d", i);
    log_stop(50);
    log_write(LOG_INFO, "test", "one more is left out");
    dup2(kept, STDERR_FILENO);
    free(text);
    return check_finish();
}
