// The division of docs/scheduler.md, 2.3, a second time: written for clarity alone, from the text and not from
// scheduler/state/fair_share.c, with which it shares the struct of a claim and nothing else. Exact: rationals of 128
// bits, so that weights up to some thousands, and amounts and k to match, are what it is for.
#pragma once
#include "scheduler/state/fair_share.h"

enum {
    PLAIN_QUEUES = 16
};

// Sets fair_share of each claim; returns what is left.
int64_t plain_fair_share(struct share_claim *claims, size_t count, int64_t total, int64_t unit, int64_t k_micro);
