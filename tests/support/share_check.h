// Recomputes a fair-share tree term by term: each from the inputs that stand in the tree and from what was given before
// it, by the text of docs/scheduler.md, 2, and without any of scheduler/state/fair_share.c.
#pragma once
#include "scheduler/ask/share_question.h"

// NULL where every term is what the rules give, in the order of the rules, and terms sum to the fair shares; else what
// is wrong. Static text; *out_subject is the node it is wrong with.
const char *share_tree_check(const struct share_tree *tree, const char **out_subject);
