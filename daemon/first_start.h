// What a new installation holds, and the extra departments and projects of a demo.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct arena;
struct auth;
struct db;
struct error;

enum first_start_extras {
    EXTRAS_NONE,
    EXTRAS_QUOTA,
    EXTRAS_PREEMPTION
};

// Creates cluster, default pool, department and project, roles' subjects, assets and the administrator where they are
// missing. *out_password is the administrator's password, in arena, where one was made up just now; else NULL.
// *out_is_first says whether this is the first start. It is not done until first_start_end: one that fails, or is
// killed, leaves a mark, by which db_open takes away what it wrote; folder's heads of the audit go here.
int first_start_seed(struct db *db, struct auth *auth, const char *folder, struct arena *arena,
                     const char **out_password, bool *out_is_first, struct error *err);
// The server serves, and the password was shown: what the first start wrote stays.
int first_start_end(struct db *db, struct error *err);
// Gives the cluster a name, NULL: this machine's, unless somebody has renamed it. After the folder was claimed.
int first_start_name_cluster(struct db *db, const char *name, struct error *err);
// On a first start: the demo's department and projects, with quotas. The units `default` own nothing.
int first_start_finish(struct db *db, enum first_start_extras extras, struct arena *arena, struct error *err);
