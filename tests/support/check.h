// Checks for table tests: they print the row's name and go on; the program's exit status counts the failures.
#pragma once
#include <inttypes.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void check_true(int ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_int(int64_t got, int64_t want, const char *format, ...) __attribute__((format(printf, 3, 4)));
void check_text(const char *got, const char *want, const char *format, ...) __attribute__((format(printf, 3, 4)));
// For `return check_finish();` in main: prints how many checks passed and failed; 0 when none failed and any ran.
int check_finish(void);
