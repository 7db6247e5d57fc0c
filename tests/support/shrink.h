// Makes a failing document smaller while it still fails: takes away list items (in halves, then one by one) and keys,
// and puts small numbers in the place of large ones, until nothing more can go. Whatever does not read any more does
// not fail, so that references see to themselves.
#pragma once
#include <jansson.h>
#include <stdbool.h>

typedef bool (*shrink_fails)(const json_t *document, void *context);

// A new document; the one given stays. It fails too, and as a rule in the same way: that is for the caller to ask.
json_t *shrink(const json_t *document, shrink_fails fails, void *context);
// Writes it to folder/name.json as {"why", "snapshot"}, the form of tests/scheduler/cases; prints the path.
void shrink_keep(const char *folder, const char *name, const char *why, const json_t *document);
