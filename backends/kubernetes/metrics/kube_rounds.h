// A thread that does the same again and again, with a pause between: what is read of a cluster in a rhythm of its own.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;
struct kube_rounds;

// One round, on that thread. A long one asks kube_rounds_is_ending in between. The pause comes after it.
typedef void (*kube_round_fn)(void *context, struct kube_rounds *rounds);

// A pause is at least pause_ms, and least_parts times what its round took of a core: so a large cluster is read less
// often. least_parts 0: pause_ms it is.
int kube_rounds_create(int64_t pause_ms, int64_t least_parts, kube_round_fn round, void *context,
                       struct kube_rounds **out_rounds, struct error *err);
// Waits for the round under way, and so for the call that it waits for: stop the client first. NULL is fine.
void kube_rounds_destroy(struct kube_rounds *rounds);
bool kube_rounds_is_ending(struct kube_rounds *rounds);
