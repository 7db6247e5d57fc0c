// The backends that --backend names: one row each.
#pragma once
#include <stdbool.h>

struct backend;
struct backend_site;
struct error;
struct reconciler;
struct settings;

struct backend_kind {
    const char *name;
    bool is_machine; // the cluster is this machine and has its name
    // Brings the nodes into the database, which the first quota follows, and makes the backend.
    int (*create)(const struct backend_site *site, struct backend *out_backend, struct error *err);
    // Once the reconciler runs; NULL: nothing.
    int (*after_start)(const struct settings *settings, struct reconciler *reconciler, struct error *err);
};

// NULL where there is none of that name; name may be NULL.
const struct backend_kind *backend_kind_find(const char *name);
