// How two numbers stand to each other, for qsort and tables of rules.
#pragma once
#include <stdint.h>

static inline int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}
