// Amounts of resources: what a node has to give, what a pod asks for. CPU in thousandths, all else in units.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct kube_amount {
    const char *name; // nvidia.com/gpu, hugepages-2Mi, ...
    int64_t units;
};

struct kube_amounts {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t ephemeral_bytes; // ephemeral-storage
    int64_t pods;
    struct kube_amount *others; // in the order in which they came up
    size_t other_count;
};

// From an object of names and quantities; NULL and what is no object give nothing. Texts are the arena's. What is below
// 0 counts as 0, and what is beyond QUANTITY_AMOUNT_MAX as that.
void kube_amounts_read(const json_t *object, struct arena *arena, struct kube_amounts *out);
// Adds b to a, and raises a to b where that is more; amounts stay at QUANTITY_AMOUNT_MAX. Texts of b's names are kept
// as they are.
void kube_amounts_add(struct kube_amounts *a, const struct kube_amounts *b, struct arena *arena);
void kube_amounts_raise(struct kube_amounts *a, const struct kube_amounts *b, struct arena *arena);
// Of one resource by its name, cpu in thousandths; 0 where there is none of it.
int64_t kube_amounts_get(const struct kube_amounts *amounts, const char *name);
// Whether an extended resource is named at all (a key of 0 devices is another thing than no key), or there is any CPU,
// memory, storage or room for pods.
bool kube_amounts_has(const struct kube_amounts *amounts, const char *name);
