// The storage of a pod on a machine without containers: each volume has a place, a folder of this machine.
//
//   hostPath                 the path itself; it must be there, and the pod's user must be able to enter it. Where the
//                            server is root a container runtime is told another place, on which it is held
//   emptyDir, home           a new folder, the pod's own, gone with the pod
//   git                      the same, cloned into by the pod's user before the command starts
//   secret, config map       the same, with a file for each key
//
// With a container runtime the place is mounted where the specification says. Without, the pod finds it in a variable:
// PRORATA_PATH_DATA_SETS for the mount path /data/sets; a working folder below a mount path is one below the place.
#pragma once
#include "backends/local/specification/secrets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct buffer;
struct error;
struct json_t;
struct local_user;
struct variables;

enum volume_kind {
    VOLUME_HOST_PATH,
    VOLUME_EMPTY,
    VOLUME_GIT,
    VOLUME_FILES
};

struct volume_file {
    const char *name;
    const char *value;
    size_t length;
};

struct volume {
    enum volume_kind kind;
    const char *place;
    const char *held; // of a host path in a container: where its supervisor puts it (supervisor/host_places.h)
    const char *mount_path;
    bool is_read_only;
    bool follows_host;  // mounts that the host makes later are seen
    bool is_memory;     // of an empty folder: on a tmpfs, where there is a runtime
    int64_t size_bytes; // its bound there; 0: none
    mode_t mode;        // of files
    struct volume_file *files;
    size_t file_count;
    const char *url, *branch, *revision; // git
    const char *credentials_folder;      // beside the place
    const char *credentials;             // a file in it; NULL: none needed
    const char *credentials_text;
    bool is_ssh_key;
};

struct volumes {
    const char *folder; // of the pod's own places
    struct volume *items;
    size_t count;
};

struct volume_source {
    const char *scratch; // the folder of the pods' folders of places
    const char *pod_uuid;
    struct secret_source secrets;
};

// ERROR_INVALID: more host paths than a supervisor looks at. volumes_read asks it, too.
int volumes_check(const struct json_t *spec, struct error *err);
// What the specification's storage (and createHomeDir) comes to. Everything is the arena's. ERROR_INVALID: a secret or
// a config map that is not there, a path that is none.
int volumes_read(const struct json_t *spec, const struct volume_source *source, struct arena *arena,
                 struct volumes *out_volumes, struct error *err);
// Makes the pod's own places. Their owner is the pod's user.
int volumes_make(const struct volumes *volumes, const struct local_user *user, struct error *err);
// A shell script that clones what is to be cloned, to be run with the rights of the pod's user; NULL: nothing to do.
const char *volumes_script(const struct volumes *volumes, struct arena *arena);
bool volumes_have_folder(const struct volumes *volumes);                        // of the pod's own places
const char *volumes_variable(const struct volume *volume, struct arena *arena); // that says where it is
size_t volumes_variable_count(const struct volumes *volumes);
void volumes_set(const struct volumes *volumes, struct variables *variables);
// A path below a mount path, on the machine; others as they are.
const char *volumes_translate(const struct volumes *volumes, const char *path, struct arena *arena);

// The folder `path` above all pods' places, in the folder `above` it: both made where missing, and `path` marked as
// ours. ERROR_INVALID where somebody else made it, where it holds what is no pod's, or where others can replace it.
int volumes_open_scratch(const char *above, const char *path, struct error *err);
// The same question, and nothing is made.
int volumes_check_scratch(const char *above, const char *path, struct error *err);
// The next two remove pods' folders from a folder with our mark, and nothing else; other file systems are left alone.
void volumes_remove(const char *scratch, const char *pod_uuid);
// Removes what is left of pods that do not live.
void volumes_sweep(const char *scratch, bool (*is_living)(const char *pod_uuid, void *context), void *context);
