// FNV-1a, for tables in memory and for seeing whether something has changed. Not for what somebody may choose to
// collide.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(14695981039346656037)

// The hash so far, and what comes next.
uint64_t hash_bytes(uint64_t hash, const void *data, size_t length);
uint64_t hash_text(uint64_t hash, const char *text);
