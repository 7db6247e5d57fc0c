// Checks for table tests: they print the row's name and go on; the program's exit status counts the failures.
#pragma once
#include <inttypes.h>
#include <stdint.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void check_true(int ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
void check_int(int64_t got, int64_t want, const char *format, ...) __attribute__((format(printf, 3, 4)));
void check_text(const char *got, const char *want, const char *format, ...) __attribute__((format(printf, 3, 4)));
// How many of count random inputs to try: all, but a tenth and at least three where a sanitizer makes programs slow and
// $PRORATA_LONG is not set. What random clusters show, they show without a sanitizer.
uint64_t check_sample(uint64_t count);
// For `return check_finish();` in main: prints how many checks passed and failed; 0 when none failed and any ran.
int check_finish(void);
