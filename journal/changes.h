// What changed in a snapshot since the one before, as JSON: entries that are new or other than they were, names that
// are gone. Of the snapshot before only names and hashes are kept.
#pragma once
#include "form/snapshot_writer.h"

struct json_writer;

struct change_entry {
    char *name;
    uint64_t quick; // of the entry as it stands in memory: where it is the same, so is the text
    uint64_t text;  // of its JSON
};

struct changes {
    struct change_entry *entries[SNAPSHOT_LIST_COUNT]; // in the order of names
    size_t counts[SNAPSHOT_LIST_COUNT];
    uint64_t rules;
    uint64_t world; // 0: nothing was written
};

void changes_init(struct changes *changes);
void changes_done(struct changes *changes);
// Writes members of the open object: rules, put, drop, as far as there is anything. world: see journal.h. After
// changes_init everything is new.
void changes_write(struct changes *changes, const struct snapshot *snapshot, uint64_t world, struct json_writer *json);
