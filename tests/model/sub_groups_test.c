// The shape of a gang as its row keeps it: which pod belongs where, how many are needed, and whether they are there.
#include "base/arena.h"
#include "model/sub_groups.h"
#include "tests/support/check.h"

#include <string.h>

// Trees as rows have them; quotes are '.
#define HALVES \
    "{'minSubGroups':1,'subGroups':[{'name':'b','workers':2,'minPods':2},{'name':'a','workers':3,'minPods':3}]}"
#define LEAD                                                                                                           \
    "{'minSubGroups':2,'subGroups':[{'name':'work','workers':4,'minPods':2},{'name':'lead','workers':0,'master':true," \
    "'minPods':1}]}"
#define TREE                                                                                                           \
    "{'minSubGroups':2,'subGroups':[{'name':'c','parent':'set','workers':1,'minPods':1},{'name':'set','parent':'top'," \
    "'minSubGroups':1},{'name':'top','minSubGroups':1},{'name':'d','parent':'set','workers':3,'minPods':3},"           \
    "{'name':'e','workers':2,'minPods':1}]}"

struct met_case {
    const char *name;
    const char *text;
    const char *members; // of each pod, the master first where there is one: place in the list, - is none
    int64_t min_pods;
    int64_t pods[6];
    bool is_met;
};

static const struct met_case CASES[] = {
    {"one half is enough", HALVES, "00111", 2, {2, 0}, true},
    {"the other too", HALVES, "00111", 2, {0, 3}, true},
    {"a part of each is none", HALVES, "00111", 2, {1, 2}, false},
    {"the master is its own", LEAD, "10000", 3, {2, 1}, true},
    {"and needed", LEAD, "10000", 3, {4, 0}, false},
    {"the smallest of a set, and what stands beside it", TREE, "033344", 2, {1, 0, 0, 0, 1}, true},
    {"the largest of it", TREE, "033344", 2, {0, 0, 0, 3, 2}, true},
    {"not a part of that", TREE, "033344", 2, {0, 0, 0, 2, 2}, false},
    {"all above and nothing beside", TREE, "033344", 2, {1, 0, 0, 3, 0}, false},
    {"no row", NULL, "--", 0, {0}, true},
    {"a row of nothing", "{}", "--", 0, {0}, true},
    {"no JSON", "{", "--", 0, {0}, true},
    {"what no submission passes", "{'subGroups':[{'name':'a'}]}", "--", 0, {0}, true},
};

static const char *quoted(const char *text, struct arena *arena)
{
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; at && (at = strchr(at, '\''));)
        *at = '"';
    return copy;
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct met_case *row = &CASES[i];
        struct arena arena;
        struct sub_groups groups;
        arena_init(&arena);
        sub_groups_parse(quoted(row->text, &arena), &arena, &groups);
        bool has_master = row->text && strstr(row->text, "master");
        for (size_t pod = 0; row->members[pod]; pod++) {
            bool is_master = has_master && pod == 0;
            size_t place = sub_groups_of_pod(&groups, is_master, (int64_t)pod - (has_master && pod > 0));
            size_t want = row->members[pod] == '-' ? SUB_GROUP_NONE : (size_t)(row->members[pod] - '0');
            check_int((int64_t)place, (int64_t)want, "%s: pod %zu", row->name, pod);
        }
        check_int(sub_groups_min_pods(&groups, &arena), row->min_pods, "%s: how many are needed", row->name);
        check_int(sub_groups_are_met(&groups, row->pods, &arena), row->is_met, "%s", row->name);
        arena_done(&arena);
    }
    return check_finish();
}
