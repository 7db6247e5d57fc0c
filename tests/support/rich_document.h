// Random snapshots (docs/snapshot.md) in which every rule has something to do: each cluster has some of the features,
// in queues that are full, over their limits or starved, with pods in every status. What runs has room where it runs.
#pragma once
#include "tests/support/random_document.h"

// The caller owns it. A dice of bytes makes it from these bytes, whatever they are.
json_t *rich_document(struct document_dice *dice);
// One more node of the kind that rich_document makes, to be added to nodes.
json_t *rich_document_node(struct document_dice *dice, const char *name, const char *pool);
