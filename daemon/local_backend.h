// This machine as the cluster: its node's row, and the backend that runs pods as its processes.
#pragma once
struct arena;
struct backend;
struct backend_site;
struct error;
struct log_bounds;
struct settings;

// Looks at the machine, brings its row up to date (others are removed), and creates the backend. Says on the log how
// pods will run here.
int local_backend_create(const struct backend_site *site, struct backend *out_backend, struct error *err);
// The program that supervises pods: beside this one where it was built, else where it is installed. NULL: err.
const char *local_backend_find_supervisor(struct arena *arena, struct error *err);
// What logs may take of the disk that `data` is on: a pod's bound is never above the others.
int local_backend_log_bounds(const struct settings *settings, const char *data, struct log_bounds *out,
                             struct error *err);
// The folder of the pods' own volumes, named after the data folder, and the folder that it is in (--local-scratch, else
// /var/tmp). The arena's.
void local_backend_scratch(const struct settings *settings, const char *data, struct arena *arena,
                           const char **out_above, const char **out_path);
