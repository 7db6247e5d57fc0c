#include "tests/support/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

static int passed, failed;

static void report(int ok, const char *format, va_list args)
{
    if (ok) {
        passed++;
        return;
    }
    failed++;
    fputs("FAILED: ", stderr);
    vfprintf(stderr, format, args);
}

void check_true(int ok, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(ok, format, args);
    va_end(args);
    if (!ok)
        fputc('\n', stderr);
}

void check_int(int64_t got, int64_t want, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    report(got == want, format, args);
    va_end(args);
    if (got != want)
        fprintf(stderr, ": got %" PRId64 ", want %" PRId64 "\n", got, want);
}

void check_text(const char *got, const char *want, const char *format, ...)
{
    int same = got && want ? strcmp(got, want) == 0 : got == want;
    va_list args;
    va_start(args, format);
    report(same, format, args);
    va_end(args);
    if (!same)
        fprintf(stderr, ": got %s, want %s\n", got ? got : "(null)", want ? want : "(null)");
}

uint64_t check_sample(uint64_t count)
{
    if (!IS_SANITIZED || getenv("PRORATA_LONG") != NULL || count <= 3)
        return count;
    return count < 30 ? 3 : count / 10;
}

int check_finish(void)
{
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
