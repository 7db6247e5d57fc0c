// Random snapshots (docs/snapshot.md): small clusters in which everything competes. Same seed, same cluster.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct document_dice {
    uint64_t state;
    const uint8_t *bytes; // thrown first, one for each throw: a fuzzer's; NULL: none
    size_t byte_count;
};

// 0 to sides - 1.
unsigned document_dice_throw(struct document_dice *dice, unsigned sides);

// A cluster without workloads; the caller owns it.
json_t *random_document(struct document_dice *dice);
// Appends count workloads of pending pods to the cluster's, named in order of their creation from first on.
void random_document_workloads(struct document_dice *dice, json_t *cluster, unsigned first, unsigned count);
// Puts items and keys in another order, but for the lists whose order means something.
void random_document_shuffle(struct document_dice *dice, json_t *value);
