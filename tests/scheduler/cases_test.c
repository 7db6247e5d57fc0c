// Clusters that broke a rule once, kept small: tests/scheduler/cases/*.json, {"why", "snapshot"}. Every invariant holds
// for them, and they come to rest. A case with "node" says besides how many pods run in the end, without that node and
// with it: adding a node does not always let more pods run (docs/scheduler.md, 12.5).
#include "tests/support/check.h"
#include "tests/support/cluster_life.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const char FOLDER[] = "tests/scheduler/cases";

static uint32_t run_case(const char *name, const json_t *snapshot)
{
    struct life life;
    struct breach breach;
    bool holds = cluster_live_document(snapshot, LIFE_CYCLES, false, &life, &breach);
    check_true(holds, "%s, cycle %d: %s: %s", name, breach.cycle, breach.rule ? breach.rule : "", breach.subject);
    check_true(life.rests, "%s comes to rest", name);
    return life.running_pods;
}

static void check_case(const char *folder, const char *name)
{
    char path[512];
    json_error_t where;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    json_t *kept = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    json_t *snapshot = json_object_get(kept, "snapshot"), *node = json_object_get(kept, "node");
    check_true(snapshot && json_is_string(json_object_get(kept, "why")), "%s: why and snapshot", name);
    uint32_t running = run_case(name, snapshot);
    if (node) {
        json_array_append(json_object_get(snapshot, "nodes"), node);
        uint32_t more = run_case(name, snapshot);
        check_int(running, json_integer_value(json_object_get(kept, "pods")), "%s: pods that run", name);
        check_int(more, json_integer_value(json_object_get(kept, "podsWithNode")), "%s: with one more node", name);
    }
    json_decref(kept);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : FOLDER;
    DIR *folder = opendir(path);
    check_true(folder != NULL, "%s can be read", path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".json"))
            check_case(path, entry->d_name);
    if (folder)
        closedir(folder);
    return check_finish();
}
