// How much memory a pod may use that names no limit of its own (--local-memory-default).
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;

enum memory_default_kind {
    MEMORY_DEFAULT_SHARE, // of the machine, by the pod's part of its GPUs; a pod without: an eighth
    MEMORY_DEFAULT_NONE,
    MEMORY_DEFAULT_AMOUNT // the same for each pod
};

struct memory_default {
    enum memory_default_kind kind;
    int64_t bytes; // of an amount
};

// What a pod holds of what its machine has: GPUs in thousandths, or instances of divided ones.
struct memory_share {
    int64_t held, all;
    int64_t machine_bytes;
    int64_t request_bytes; // what the pod asks for; 0: nothing
};

// share, none, or an amount: 32Gi. ERROR_INVALID says so.
int memory_default_parse(const char *text, struct memory_default *out, struct error *err);
// In bytes, never below the request, a share never below 512 MiB; 0: no bound.
int64_t memory_bound_by_default(const struct memory_default *rule, const struct memory_share *share);

enum {
    MEMORY_BOUND_TEXT_SIZE = 64
};
// "32 GiB (--local-memory-default)", or cpuMemoryLimit where it was asked for. Returns out.
char *memory_bound_say(int64_t bytes, bool is_default, char out[MEMORY_BOUND_TEXT_SIZE]);
