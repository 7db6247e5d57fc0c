"""Seeded bugs: (name, file of scheduler/, what stands there once, what stands there instead). tools/mutate.py applies
one at a time, and some test has to notice. Each is a mistake that a person might make; together they touch every
rule."""

MUTANTS = [
    # Fair share.
    (
        "limit ignored by the division",
        "fair_share.c",
        "return minimum(claim->requested, claim->limit);",
        "return claim->requested;",
    ),
    (
        "deserved without bound gives nothing",
        "fair_share.c",
        "claim->deserved == QUANTITY_UNLIMITED ? terms.total : claim->deserved;",
        "claim->deserved == QUANTITY_UNLIMITED ? 0 : claim->deserved;",
    ),
    (
        "lower ranks first",
        "fair_share.c",
        "(first || rank < bound) && (!found || rank > best)",
        "(first || rank > bound) && (!found || rank < best)",
    ),
    ("smallest remainder first", "fair_share.c", "return left > right ? -1 : 1;", "return left < right ? -1 : 1;"),
    (
        "younger remainder first",
        "fair_share.c",
        "return one->created_ms < other->created_ms ? -1 : 1;",
        "return one->created_ms > other->created_ms ? -1 : 1;",
    ),
    (
        "a cut share is not whole units",
        "fair_share.c",
        "give = (int64_t)(part / ((wide)sum * unit)) * unit;",
        "give = (int64_t)(part / (wide)sum);",
    ),
    (
        "an old remainder survives",
        "fair_share.c",
        "            division->remainders[i].recorded = false;\n",
        "            ;\n",
    ),
    ("one round only", "fair_share.c", "again = again || (wide)want * sum < part;", "again = false;"),
    (
        "past usage counts the wrong way",
        "fair_share.c",
        "(wide)claim->weight_milli * 1000000 - (wide)claim->usage_micro * weights",
        "(wide)claim->weight_milli * 1000000 + (wide)claim->usage_micro * weights",
    ),
    ("shares below nothing", "fair_share.c", "            if (share < 0)\n                share = 0;\n", ""),
    # Queues and order.
    (
        "a limit stops only what is beyond it already",
        "queue.c",
        "limit < queue->allocated.of[r] + requested.of[r])",
        "limit < queue->allocated.of[r])",
    ),
    (
        "the limit itself is out of reach",
        "queue.c",
        "limit < queue->allocated.of[r] + requested.of[r])",
        "limit <= queue->allocated.of[r] + requested.of[r])",
    ),
    (
        "departments have no limit",
        "queue.c",
        "for (const struct queue *queue = leaf; queue; queue = queue->parent) {",
        "for (const struct queue *queue = leaf; queue; queue = NULL) {",
    ),
    (
        "memory has no limit",
        "queue.c",
        "        for (enum resource r = 0; r < RESOURCE_COUNT; r++) {\n            int64_t limit",
        "        for (enum resource r = 0; r < RESOURCE_MEMORY; r++) {\n            int64_t limit",
    ),
    (
        "non-preemptible pods beyond quota",
        "queue.c",
        "deserved < queue->allocated_non_preemptible.of[r] + requested.of[r])",
        "deserved < queue->allocated_non_preemptible.of[r])",
    ),
    ("a share over the limit", "queue.c", "return share < limit ? share : limit;", "return share;"),
    ("starved last", "queue_order.c", "return b->is_starved - a->is_starved;", "return a->is_starved - b->is_starved;"),
    (
        "starved only below quota",
        "queue_order.c",
        "with.of[r] <= queue->spec->deserved.of[r];",
        "with.of[r] < queue->spec->deserved.of[r];",
    ),
    (
        "above fair share in anything",
        "queue_order.c",
        "key.is_over = key.is_over && queue->fair_share.of[r] < queue->allocated.of[r];",
        "key.is_over = queue->fair_share.of[r] < queue->allocated.of[r];",
    ),
    (
        "lower rank is served first",
        "queue_order.c",
        "return compare_numbers(b->queue->spec->rank, a->queue->spec->rank);",
        "return compare_numbers(a->queue->spec->rank, b->queue->spec->rank);",
    ),
    (
        "larger dominant share first",
        "queue_order.c",
        "return compare_ratios(a->share_with, b->share_with);",
        "return compare_ratios(b->share_with, a->share_with);",
    ),
    (
        "memory forgotten in the dominant share",
        "queue_order.c",
        "for (size_t r = 0; r < RESOURCE_COUNT; r++) {\n        int64_t whole",
        "for (size_t r = 0; r + 1 < RESOURCE_COUNT; r++) {\n        int64_t whole",
    ),
    (
        "younger queue first",
        "queue_order.c",
        "return compare_numbers(a->queue->created_ms, b->queue->created_ms);",
        "return compare_numbers(b->queue->created_ms, a->queue->created_ms);",
    ),
    (
        "lower priority first",
        "workload_order.c",
        "return compare_numbers(b->spec->priority, a->spec->priority);",
        "return compare_numbers(a->spec->priority, b->spec->priority);",
    ),
    (
        "younger workload first",
        "workload_order.c",
        "return compare_numbers(a->spec->created_ms, b->spec->created_ms);",
        "return compare_numbers(b->spec->created_ms, a->spec->created_ms);",
    ),
    (
        "growing before starting",
        "workload_order.c",
        "return elastic_state(a, false) - elastic_state(b, false);",
        "return elastic_state(b, false) - elastic_state(a, false);",
    ),
    # Units, gangs, sub-groups.
    (
        "a gang grows pod by pod",
        "unit.c",
        "uint32_t count = held >= leaf->minimum ? 1 : leaf->minimum - held;",
        "uint32_t count = 1;",
    ),
    (
        "a gang is ready without its last pod",
        "unit.c",
        "group->counts.held + count_placeable(workload, group) >= group->minimum;",
        "group->counts.held + count_placeable(workload, group) + 1 >= group->minimum;",
    ),
    (
        "one sub-group less is enough",
        "unit.c",
        "return ready >= group->minimum;",
        "return ready + 1 >= group->minimum;",
    ),
    (
        "sub-groups in the wrong order",
        "unit.c",
        "return satisfied_a - satisfied_b;",
        "return satisfied_b - satisfied_a;",
    ),
    (
        "half a gang stays where a pod finds no place",
        "attempt.c",
        "    statement_roll_back(cycle, checkpoint);\n    return placing.first &&",
        "    return true;\n    return placing.first &&",
    ),
    (
        "a gang that must be together is tried in one domain only",
        "attempt.c",
        "i < domains.count && !is_placed;",
        "i < 1 && !is_placed;",
    ),
    (
        "domains from the emptiest on",
        "affinity.c",
        "rating_compare(right->rating, left->rating)",
        "rating_compare(left->rating, right->rating)",
    ),
    (
        "a gang is bound while a part of it waits",
        "attempt.c",
        "    if (must_wait(workload))\n",
        "    if (false && must_wait(workload))\n",
    ),
    (
        "what is being deleted is placed",
        "unit.c",
        "workload->counts.pending == 0 || spec->deleting || workload->lost_pod",
        "workload->counts.pending == 0 || workload->lost_pod",
    ),
    (
        "what lost a pod is placed again",
        "unit.c",
        "workload->counts.pending == 0 || spec->deleting || workload->lost_pod",
        "workload->counts.pending == 0 || spec->deleting",
    ),
    ("capacity is not asked", "attempt.c", "    if (attempt->refusal.queue)\n        return false;\n", ""),
    (
        "victims that are being deleted move",
        "search.c",
        "workload->spec->deleting || is_hopeless(refused, pod)",
        "is_hopeless(refused, pod)",
    ),
    # Statements, nodes, devices.
    (
        "an undone eviction stays",
        "statement.c",
        "        set_state(cycle, &cycle->pods[operation->pod], operation->before);\n"
        "        if (operation->kind == OPERATION_RETURN)",
        "        if (operation->kind != OPERATION_EVICT)\n"
        "            set_state(cycle, &cycle->pods[operation->pod], operation->before);\n"
        "        if (operation->kind == OPERATION_RETURN)",
    ),
    (
        "a withdrawn promise is shown as being released",
        "statement.c",
        "        state.status = SNAPSHOT_POD_PENDING;\n",
        "        ;\n",
    ),
    (
        "a queue is not charged for what is placed",
        "statement.c",
        "    if (pod_status_is_held(state->status))\n        queue_charge(",
        "    if (state->status == SNAPSHOT_POD_RUNNING)\n        queue_charge(",
    ),
    ("a moved pod lets go of its old node", "statement.c", "        state.held = state.place;\n", "        ;\n"),
    (
        "a promise takes what is idle",
        "node.c",
        "    if (standing != STANDING_PROMISED)\n        node->idle[dimension] -= amount;",
        "    node->idle[dimension] -= amount;",
    ),
    (
        "what is being released is free at once",
        "node.c",
        "    if (standing != STANDING_PROMISED)\n        node->idle[dimension] -= amount;\n"
        "    if (standing == STANDING_RELEASING)",
        "    if (standing == STANDING_STAYS)\n        node->idle[dimension] -= amount;\n"
        "    if (standing == STANDING_RELEASING)",
    ),
    (
        "extended resources are not counted",
        "node.c",
        "int64_t amount = spec->extended[i].count * sign;",
        "int64_t amount = 0 * sign;",
    ),
    (
        "GPU memory is charged rounded down",
        "node.c",
        "(request->memory_mib * 100 + gpu_memory_mib - 1) / gpu_memory_mib",
        "request->memory_mib * 100 / gpu_memory_mib",
    ),
    (
        "a device is given twice",
        "devices.c",
        "        slot->state = SLOT_HELD;\n    return gpu;",
        "        slot->promised = false;\n    return gpu;",
    ),
    (
        "the second free device first",
        "devices.c",
        "if (!slot->promised && !slot->is_unhealthy &&",
        "if (i > 0 && !slot->promised && !slot->is_unhealthy &&",
    ),
    (
        "devices that are not healthy are given",
        "devices.c",
        "if (!slot->promised && !slot->is_unhealthy &&",
        "if (!slot->promised &&",
    ),
    (
        "a portion binds on a device that is still used",
        "shared_device.c",
        "struct device_choice choice = {.waits = opened > node->idle[DIMENSION_GPU]};",
        "struct device_choice choice = {.waits = false};",
    ),
    (
        "the emptiest shared device is filled up first",
        "shared_device.c",
        "next_device(node, memory, strategy == PLACEMENT_BINPACK, last)",
        "next_device(node, memory, strategy != PLACEMENT_BINPACK, last)",
    ),
    # Placement.
    (
        "bin-pack spreads",
        "placement.c",
        "return PACK_LIMIT - node_free(node, dimension);",
        "return node_free(node, dimension);",
    ),
    (
        "spread packs",
        "placement.c",
        "return (int64_t)((__int128)free * PACK_LIMIT / node->capacity[dimension]);",
        "return (int64_t)((__int128)(node->capacity[dimension] - free) * PACK_LIMIT / node->capacity[dimension]);",
    ),
    ("waiting is as good as starting", "placement.c", "candidate->fit.fits_now ? SCORE_AVAILABILITY : 0;", "0;"),
    ("CPU pods on GPU nodes", "placement.c", "units += SCORE_RESOURCE_TYPE;", "units -= SCORE_RESOURCE_TYPE;"),
    (
        "required pod affinity is a wish",
        "placement.c",
        "if (!together && affinity == POD_AFFINITY_REQUIRED)",
        "if (false)",
    ),
    (
        "NotIn is In",
        "rules.c",
        "return !value || !lists_value(requirement, value);",
        "return value && lists_value(requirement, value);",
    ),
    ("cordoned nodes take pods", "rules.c", "    if (spec->cordoned)\n        return NODE_CORDONED;\n", ""),
    (
        "a taint's value does not matter",
        "rules.c",
        'strcmp(toleration->value ? toleration->value : "", taint->value ? taint->value : "") == 0',
        "true",
    ),
    # Topology.
    (
        "a domain takes one pod more",
        "topology.c",
        "return finder->estimates[domain].pod_count >= finder->demand.pod_count;",
        "return finder->estimates[domain].pod_count + 1 >= finder->demand.pod_count;",
    ),
    (
        "the required level is one too high",
        "topology.c",
        "int highest = has_required ? (int)constraint->required : -1;",
        "int highest = has_required ? (int)constraint->required - 1 : -1;",
    ),
    (
        "emptiest domain first",
        "topology.c",
        "compare_fractions(demand_ratio(finder, right), demand_ratio(finder, left));",
        "compare_fractions(demand_ratio(finder, left), demand_ratio(finder, right));",
    ),
    ("growth leaves the domain", "topology.c", "(is_bound && !stands_with_others(finder, domain))", "false"),
]
