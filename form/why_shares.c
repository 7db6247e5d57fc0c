#include "base/json_writer.h"
#include "form/why_writer.h"
#include "form/writer.h"

static const char *name_of(const struct why_names *names, const struct share_node *node)
{
    const struct snapshot *snapshot = names->snapshot;
    if (node->index == SNAPSHOT_NONE)
        return node->name;
    return node->kind == SHARE_NODE_DEPARTMENT ? snapshot->departments[node->index].name
           : node->kind == SHARE_NODE_PROJECT  ? snapshot->projects[node->index].name
                                               : snapshot->node_pools[node->index].name;
}

static void write_term(struct json_writer *json, const struct why_names *names, const struct share_tree *tree,
                       const struct share_term *term)
{
    json_begin_object(json);
    json_text(json, "rule", share_rule_name(term->rule));
    json_int(json, "rank", term->rank);
    if (term->rule != SHARE_RULE_DESERVED)
        json_int(json, "round", term->round);
    if (term->rule == SHARE_RULE_OVER_QUOTA) {
        json_milli(json, "weight", term->weight_milli);
        json_milli(json, "weightSum", term->weight_sum_milli);
        json_int(json, "part", term->part);
        json_int(json, "partSum", term->part_sum);
    }
    why_write_amount(json, "want", tree->resource, term->want);
    why_write_amount(json, "of", tree->resource, term->of);
    why_write_amount(json, "given", tree->resource, term->given);
    why_write_sentence(json, names, "sentence", term->sentence);
    json_end_object(json);
}

static void write_share_node(struct json_writer *json, const struct why_names *names, const struct share_tree *tree,
                             const struct share_node *node)
{
    enum resource r = tree->resource;
    json_begin_object(json);
    json_text(json, "kind", share_node_kind_name(node->kind));
    json_text(json, "name", name_of(names, node));
    if (names->node_id)
        json_text(json, "id",
                  node->index == SNAPSHOT_NONE ? NULL : names->node_id(names->context, node->kind, node->index));
    why_write_amount(json, "fairShare", r, node->fair_share);
    why_write_amount(json, "deserved", r, node->deserved);
    why_write_amount(json, "limit", r, node->limit);
    why_write_amount(json, "requested", r, node->requested);
    why_write_amount(json, "allocated", r, node->allocated);
    json_int(json, "rank", node->rank);
    json_milli(json, "weight", node->weight_milli);
    json_number(json, "usage", (double)node->usage_micro / 1e6);
    write_time(json, "createdAt", node->kind == SHARE_NODE_POOL ? SNAPSHOT_TIME_NONE : node->created_ms);
    json_key(json, "terms");
    json_begin_array(json);
    for (size_t i = 0; i < node->term_count; i++)
        write_term(json, names, tree, &node->terms[i]);
    json_end_array(json);
    json_key(json, "children");
    json_begin_array(json);
    // Three levels: a pool, departments, projects.
    for (size_t i = 0; i < node->child_count; i++)
        write_share_node(json, names, tree, &node->children[i]);
    json_end_array(json);
    json_end_object(json);
}

void why_write_share_tree(struct json_writer *json, const struct why_names *names, const struct share_tree *tree)
{
    static const char *const RESOURCES[RESOURCE_COUNT] = {"gpu", "cpu", "memory"};
    json_begin_object(json);
    json_text(json, "nodePool", names->snapshot->node_pools[tree->node_pool].name);
    json_text(json, "resource", RESOURCES[tree->resource]);
    why_write_amount(json, "total", tree->resource, tree->total);
    json_number(json, "kValue", (double)tree->k_micro / 1e6);
    json_key(json, "root");
    write_share_node(json, names, tree, &tree->root);
    json_end_object(json);
}
