// How fast writes may go: a capped rate, halved by a refusal (429), recovering by a tenth a second.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct kube_pace {
    double most, rate; // a second
    double room;       // writes that may go now
    int64_t at_us, slowed_us;
};

void kube_pace_init(struct kube_pace *pace, double per_second, int64_t now_us);
// Whether a write may go now; it then counts.
bool kube_pace_take(struct kube_pace *pace, int64_t now_us);
// How long until the next may, in ms, rounded up.
int64_t kube_pace_wait_ms(const struct kube_pace *pace);
// The server asked for less; what came within one second counts once.
void kube_pace_slow(struct kube_pace *pace, int64_t now_us);
