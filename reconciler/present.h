// The present, as a question sees it: the latest cycle's snapshot with its plan carried out. See questions.h.
#pragma once
#include "base/arena.h"
#include "reconciler/reconciler.h"
#include "scheduler/ask/what_if.h"

struct submission; // model/submission.h
struct world;      // reconciler/world/world.h

struct present {
    struct reconciler *reconciler;
    const struct reconciler_view *view;
    struct snapshot snapshot; // its first workloads and pods are the view's, in the same places
    struct arena arena;       // of the snapshot, the question and the answer
    struct world *world;      // of a drafted workload; NULL: there is none
    int place;                // among the questions
    bool is_slow;             // planning takes so long that no question should need many cycles
};
