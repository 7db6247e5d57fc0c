// How a pod is started once it is known whether its image is used: the words for the runtime, or the command itself.
#include "backends/local/specification/honours.h"
#include "backends/local/specification/launch.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "supervisor/host_places.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

enum {
    CPU_SHARES_OF_A_CORE = 1024
};

struct words {
    struct arena *arena;
    char **items;
    size_t count, capacity;
};

static void add(struct words *words, const char *text)
{
    words->items = arena_grow(words->arena, words->items, &words->capacity, words->count + 2, sizeof(*words->items));
    words->items[words->count++] = arena_strdup(words->arena, text);
    words->items[words->count] = NULL;
}

static void add_pair(struct words *words, const char *option, const char *value)
{
    add(words, option);
    add(words, value);
}

static void add_all(struct words *words, char *const *more)
{
    for (; *more; more++)
        add(words, *more);
}

static void add_bounds(struct words *words, const struct launch *launch)
{
    const struct cgroup_bounds *bounds = &launch->bounds;
    struct sysinfo info;
    if (bounds->memory_bytes > 0)
        add_pair(words, "--memory", arena_printf(words->arena, "%" PRId64 "b", bounds->memory_bytes));
    if (bounds->cpu_milli > 0)
        add_pair(words, "--cpus", arena_printf(words->arena, "%g", (double)bounds->cpu_milli / 1000));
    if (bounds->cpu_weight > 0)
        add_pair(words, "--cpu-shares",
                 arena_printf(words->arena, "%" PRId64, bounds->cpu_weight * CPU_SHARES_OF_A_CORE / 100 + 2));
    if (launch->has_large_shm && !launch->shares_ipc && sysinfo(&info) == 0)
        add_pair(words, "--shm-size",
                 arena_printf(words->arena, "%" PRIu64 "b", (uint64_t)info.totalram * info.mem_unit / 2));
}

static void add_devices(struct words *words, const struct local_options *options, const struct launch *launch,
                        enum runtime_kind kind)
{
    if (!launch->devices[0] || !options->nvml) // none, or pretended ones
        return;
    if (kind == RUNTIME_DOCKER) {
        add_pair(words, "--gpus", arena_printf(words->arena, "\"device=%s\"", launch->devices));
        return;
    }
    char *rest = arena_strdup(words->arena, launch->devices), *name;
    while ((name = strsep(&rest, ",")))
        add_pair(words, "--device", arena_printf(words->arena, "nvidia.com/gpu=%s", name));
}

// A field of a list that commas part, as in a table.
static const char *list_field(struct arena *arena, const char *name, const char *value)
{
    struct buffer text;
    if (!strpbrk(value, ",\""))
        return arena_printf(arena, "%s=%s", name, value);
    buffer_init(&text, 0);
    buffer_printf(&text, "\"%s=", name);
    for (; *value; value++) {
        if (*value == '"')
            buffer_char(&text, '"');
        buffer_char(&text, *value);
    }
    buffer_char(&text, '"');
    const char *field = arena_strndup(arena, text.data, text.length);
    buffer_done(&text);
    return field;
}

// docker makes a folder of what --volume names and it does not find; of --mount it says that it is not there.
static void add_held(struct words *words, const struct volume *volume)
{
    struct arena *arena = words->arena;
    add_pair(words, "--mount",
             arena_printf(arena, "type=bind,src=%s,%s%s%s", volume->held, list_field(arena, "dst", volume->mount_path),
                          volume->is_read_only ? ",readonly" : "",
                          volume->follows_host ? ",bind-propagation=rslave" : ""));
}

static void add_volume(struct words *words, const struct volume *volume)
{
    struct arena *arena = words->arena;
    if (volume->is_memory)
        add_pair(words, "--tmpfs",
                 volume->size_bytes > 0
                     ? arena_printf(arena, "%s:rw,exec,mode=1777,size=%" PRId64, volume->mount_path, volume->size_bytes)
                     : arena_printf(arena, "%s:rw,exec,mode=1777", volume->mount_path));
    else if (volume->held)
        add_held(words, volume);
    else
        add_pair(words, "--volume",
                 arena_printf(arena, "%s:%s:%s%s", volume->place, volume->mount_path,
                              volume->is_read_only ? "ro" : "rw", volume->follows_host ? ",rslave" : ""));
}

// docker and podman understand the same words but for the devices.
static void write_run(struct words *words, const struct local_options *options, const char *uuid,
                      const struct image_answer *answer, const struct launch *launch)
{
    struct arena *arena = words->arena;
    const struct local_user *user = &launch->user;
    add_pair(words, answer->runtime_path, "run");
    add(words, "--rm");
    add_pair(words, "--name", arena_printf(arena, "prorata-%s", uuid));
    add_pair(words, "--network", "host");
    add_pair(words, "--user", arena_printf(arena, "%u:%u", (unsigned)user->id, (unsigned)user->groups[0]));
    for (int i = 1; i < user->group_count; i++)
        if (user->changes)
            add_pair(words, "--group-add", arena_printf(arena, "%u", (unsigned)user->groups[i]));
    add_pair(words, "--security-opt", "no-new-privileges");
    add_pair(words, "--cap-drop", "ALL");
    add_pair(words, "--pids-limit", arena_printf(arena, "%d", CGROUP_PROCESSES_MAX));
    if (launch->is_unconfined)
        add_pair(words, "--security-opt", "seccomp=unconfined");
    if (launch->is_read_only)
        add(words, "--read-only");
    if (launch->shares_ipc)
        add_pair(words, "--ipc", "host");
    if (answer->runtime == RUNTIME_PODMAN && !user->changes)
        add_pair(words, "--userns", "keep-id");
    add_pair(words, "--env-file", arena_printf(arena, "%s/%s/environment", options->home, uuid));
    if (launch->image_folder)
        add_pair(words, "--workdir", launch->image_folder);
    for (size_t i = 0; i < launch->volumes.count; i++)
        add_volume(words, &launch->volumes.items[i]);
    add_bounds(words, launch);
    add_devices(words, options, launch, answer->runtime);
    if (launch->command[0])
        add_pair(words, "--entrypoint", launch->command[0]);
    add(words, answer->image);
    if (launch->command[0])
        add_all(words, launch->command + 1);
    add_all(words, launch->arguments);
}

static void write_apptainer(struct words *words, const struct local_options *options, const struct image_answer *answer,
                            const struct launch *launch)
{
    struct arena *arena = words->arena;
    bool has_words = launch->command[0] != NULL;
    add_pair(words, answer->runtime_path, has_words ? "exec" : "run");
    if (launch->devices[0] && options->nvml)
        add(words, "--nv");
    add(words, "--no-home");
    if (!launch->is_read_only)
        add(words, "--writable-tmpfs");
    for (size_t i = 0; i < launch->volumes.count; i++) {
        const struct volume *volume = &launch->volumes.items[i];
        add_pair(
            words, "--bind",
            arena_printf(arena, "%s:%s:%s", volume->place, volume->mount_path, volume->is_read_only ? "ro" : "rw"));
    }
    if (launch->image_folder)
        add_pair(words, "--pwd", launch->image_folder);
    add(words, answer->image);
    add_all(words, launch->command);
    add_all(words, launch->arguments);
}

// A line for each variable; what is about the machine means nothing in an image.
static int write_environment(struct arena *arena, struct launch *launch, struct error *err)
{
    struct buffer text;
    int rc = 0;
    buffer_init(&text, 0);
    buffer_text(&text, "");
    for (char **variable = launch->environment + launch->machine_variables; *variable && rc == 0; variable++) {
        if (strchr(*variable, '\n'))
            rc = error_set(err, ERROR_INVALID,
                           "environmentVariables: %.*s: a container's variable has one line; a volume can carry more",
                           (int)strcspn(*variable, "="), *variable);
        buffer_printf(&text, "%s\n", *variable);
    }
    launch->environment_file = arena_strndup(arena, text.data, text.length);
    buffer_done(&text);
    return rc;
}

static char **runtime_words(const struct image_answer *answer, const char *const first[2], const char *name,
                            char *const *more, struct arena *arena)
{
    struct words words = {.arena = arena};
    add(&words, answer->runtime_path);
    for (size_t i = 0; i < 2 && first[i]; i++)
        add(&words, first[i]);
    add(&words, name);
    add_all(&words, more);
    return words.items;
}

// The client of a runtime runs with the server's rights: nothing that the user has chosen may be in its environment,
// and no shell reads what he has written.
static void keep_rights(const char *uuid, const struct image_answer *answer, struct arena *arena, struct launch *launch)
{
    static const char *const KEPT[] = {"PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "TMPDIR"};
    static char *const NONE[] = {NULL};
    const char *name = arena_printf(arena, "prorata-%s", uuid);
    size_t count = sizeof(KEPT) / sizeof(KEPT[0]), at = 0;
    char **environment = arena_array(arena, count + 2, sizeof(*environment));
    for (size_t i = 0; i < count; i++)
        if (getenv(KEPT[i]))
            environment[at++] = arena_printf(arena, "%s=%s", KEPT[i], getenv(KEPT[i]));
    environment[at] = arena_printf(arena, "PRORATA_POD=%s", uuid);
    launch->environment = launch->rights_environment = environment; // the pod's own is in a file that the runtime reads
    launch->keeps_rights = true;
    launch->folder = "/";
    launch->container = arena_strdup(arena, answer->runtime_path);
    launch->after = runtime_words(answer, (const char *const[]){"rm", "--force"}, name, NONE, arena);
    if (launch->pre_stop)
        launch->pre_stop = runtime_words(answer, (const char *const[]){"exec", NULL}, name, launch->pre_stop, arena);
}

// docker's daemon sees the machine's mounts. Where the server has others, it would not see those of a supervisor.
static bool has_machines_mounts(void)
{
    struct stat own, machines;
    return stat("/proc/self/ns/mnt", &own) < 0 || stat("/proc/1/ns/mnt", &machines) < 0 ||
           own.st_ino == machines.st_ino;
}

// A client with the server's rights would look host paths up with these.
static int hold_host_paths(const struct local_options *options, const char *uuid, const struct image_answer *answer,
                           struct arena *arena, struct launch *launch, struct error *err)
{
    char place[HOST_PLACE_SIZE];
    size_t count = 0;
    for (size_t i = 0; launch->user.changes && i < launch->volumes.count; i++)
        if (launch->volumes.items[i].kind == VOLUME_HOST_PATH) {
            host_places_path(options->cgroup_name, uuid, ++count, place);
            launch->volumes.items[i].held = arena_strdup(arena, place);
        }
    launch->holds_host_paths = count > 0;
    if (count > 0 && answer->runtime == RUNTIME_DOCKER && !has_machines_mounts())
        return error_set(err, ERROR_INVALID,
                         "spec.storage.hostPath: docker does not see what this server mounts: it has a mount namespace "
                         "of its own (systemd: ProtectSystem, PrivateTmp and their like)");
    return 0;
}

static int use_image(const struct local_options *options, const char *uuid, const struct image_answer *answer,
                     struct arena *arena, struct launch *launch, struct error *err)
{
    struct words words = {.arena = arena};
    if (answer->runtime == RUNTIME_APPTAINER) {
        write_apptainer(&words, options, answer, launch); // its processes are ours: nothing stays elsewhere
        launch->folder = "/";
    } else {
        if (hold_host_paths(options, uuid, answer, arena, launch, err) < 0)
            return -1;
        write_run(&words, options, uuid, answer, launch);
        if (write_environment(arena, launch, err) < 0)
            return -1;
        keep_rights(uuid, answer, arena, launch);
    }
    launch->argv = words.items;
    launch->runtime = arena_strdup(arena, strrchr(answer->runtime_path, '/') + 1);
    return 0;
}

// Without a container a volume is not where the specification has it.
static void note_places(struct launch *launch, struct arena *arena)
{
    const char **notes = arena_array(arena, launch->note_count + launch->volumes.count, sizeof(*notes));
    memcpy(notes, launch->notes, launch->note_count * sizeof(*notes));
    for (size_t i = 0; i < launch->volumes.count; i++) {
        const struct volume *volume = &launch->volumes.items[i];
        if (strcmp(volume->place, volume->mount_path) != 0)
            notes[launch->note_count++] =
                arena_printf(arena, "spec.storage: %s is not mounted on this machine: $%s says where it is",
                             volume->mount_path, volumes_variable(volume, arena));
    }
    launch->notes = notes;
}

int launch_decide(const struct local_options *options, const char *uuid, const struct image_answer *answer,
                  unsigned unbounded, struct arena *arena, struct launch *launch, struct error *err)
{
    bool is_used = answer->is_usable && !launch->needs_machine;
    const char *why = answer->is_usable ? "MPI launchers need the machine's processes" : answer->why;
    json_t *spec = json_loads(launch->spec_json, 0, NULL);
    int rc = 0;
    const char **notes = NULL;
    launch->note_count = honours_notes(spec, is_used ? HONOUR_IN_IMAGE : HONOUR_ON_MACHINE | unbounded, arena, &notes);
    launch->notes = notes;
    json_decref(spec);
    if (!is_used)
        note_places(launch, arena);
    launch->image_note = !is_used && why[0] ? arena_strdup(arena, why) : NULL;
    if (is_used)
        rc = use_image(options, uuid, answer, arena, launch, err);
    else if (options->images == IMAGES_REQUIRED)
        rc = error_set(err, ERROR_UNAVAILABLE, "image %.60s: %s", launch->image, why);
    else if (!launch->argv[0])
        rc = error_set(err, ERROR_INVALID, "no command, and its image is not used%s%s", why[0] ? ": " : "", why);
    return rc;
}
