// Matches text against a pattern of the API document. O(length), no memory.
#pragma once
#include "api/schema.h"

bool pattern_matches(const struct pattern *pattern, const char *text, size_t length);
