// Terms of a node selector (core/v1 NodeSelectorTerm), as volumes carry them.
#pragma once
#include "backends/kubernetes/objects/kube_meta.h"

// Whether one of them holds for a node of these labels. NULL, or none: all nodes will do. A term that names fields
// instead of labels, or an operator that is not known, does not hold.
bool kube_node_terms_hold(const json_t *terms, const struct kube_meta *node);
