// Random (version 4) UUIDs in their usual text form, and random bytes. From libsodium; sodium_init() has been called.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
    UUID_SIZE = 37
};

void uuid_create(char out[UUID_SIZE]);
bool uuid_is_valid(const char *text);
