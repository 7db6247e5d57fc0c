#include "backends/local/specification/launch.h"

#include "backends/local/cgroups/cgroups_v1.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/specification/homes.h"
#include "backends/local/specification/isolation.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "supervisor/pod_folder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTIONS_MAX = 64,
    PASSED_COUNT = POD_HANDOVER_FD - POD_STATE_FD + 1,
    LOG_FILES_OF_POD = 32, // how finely a log is cut
    FILE_MODE = 0600,
    PROJECT_PROCESSES_MAX = 4 * CGROUP_PROCESSES_MAX // the limit counts all of a user's
};

struct words {
    char *items[OPTIONS_MAX];
    size_t count;
};

static void add_option(struct words *words, const char *name, char *value)
{
    assert(words->count + 3 <= OPTIONS_MAX); // the NULL is still to come
    words->items[words->count++] = (char *)name;
    words->items[words->count++] = value;
}

static void add_text(struct words *words, const char *name, const char *text, struct arena *arena)
{
    if (text)
        add_option(words, name, arena_strdup(arena, text));
}

// A container has its own.
static struct isolation isolation_of(const struct local_options *options, const struct launch *launch, const char *uuid,
                                     struct arena *arena)
{
    struct isolation isolation = {0};
    if (!options->isolates || launch->keeps_rights)
        return isolation;
    if (!launch->shares_ipc)
        isolation.shm_bytes = isolation_shm_bytes(
            options->memory_bytes, launch->has_large_shm ? 0 : launch->bounds.memory_bytes, launch->pod_count);
    if (!options->has_private_tmp)
        return isolation;
    isolation.place = arena_printf(arena, "%s/%s", options->scratch, uuid);
    isolation.kept[0] = launch->user.home;
    // The ranks of an MPI launcher find the volumes of the workers where they are.
    isolation.kept[1] = launch->reaches_workload ? options->scratch : isolation.place;
    isolation.kept[2] = isolation_mps_folder();
    isolation.kept[3] = launch->runtime ? options->images_folder : NULL;
    return isolation;
}

static void add_isolation(struct words *words, const struct isolation *isolation, const struct launch *launch,
                          struct arena *arena)
{
    if (isolation->shm_bytes)
        add_option(words, "--shm", arena_printf(arena, "%" PRId64, isolation->shm_bytes));
    if (isolation->shm_bytes && launch->join)
        add_option(words, "--join", arena_printf(arena, "%d:%llu", (int)launch->join, launch->join_start));
    add_text(words, "--place", isolation->place, arena);
}

// Numbers, and paths of the server's own: everybody can read them.
static char **make_arguments(const struct local_options *options, const struct cgroups *cgroups, const char *uuid,
                             const struct launch *launch, const struct isolation *isolation, struct arena *arena)
{
    struct words words = {.count = 0};
    words.items[words.count++] = arena_strdup(arena, "prorata-supervisor");
    add_option(&words, "--uuid", arena_strdup(arena, uuid));
    add_option(&words, "--log-file-max", arena_printf(arena, "%" PRId64, options->logs.pod_bytes / LOG_FILES_OF_POD));
    add_option(&words, "--log-total-max", arena_printf(arena, "%" PRId64, options->logs.pod_bytes));
    add_option(&words, "--disk-reserve", arena_printf(arena, "%" PRId64, options->disk_reserve));
    char cgroup[CGROUP_PATH_SIZE];
    if (cgroups_create(cgroups, uuid, &launch->bounds, cgroup))
        add_option(&words, "--cgroup", arena_strdup(arena, cgroup));
    char cgroups_v1[CGROUPS_V1_COUNT][CGROUP_PATH_SIZE];
    for (size_t i = 0, v1_count = cgroups_v1_create(&cgroups->v1, uuid, &launch->bounds, cgroups_v1); i < v1_count; i++)
        add_option(&words, "--cgroup-v1", arena_strdup(arena, cgroups_v1[i]));
    if (!cgroups->has_memory && !launch->keeps_rights && !launch->bounds.is_memory_default &&
        launch->bounds.memory_bytes > 0)
        add_option(&words, "--memory", arena_printf(arena, "%" PRId64, launch->bounds.memory_bytes));
    if (!cgroups->has_pids && !launch->keeps_rights && launch->user.is_projects)
        add_option(&words, "--processes", arena_printf(arena, "%d", PROJECT_PROCESSES_MAX));
    add_option(&words, "--grace", arena_printf(arena, "%" PRId64, launch->grace_ms));
    if (isolation->place || volumes_have_folder(&launch->volumes))
        add_text(&words, "--scratch", options->scratch, arena);
    add_isolation(&words, isolation, launch, arena);
    add_text(&words, "--keeps-rights", launch->keeps_rights ? "yes" : NULL, arena);
    add_text(&words, "--host-places", launch->holds_host_paths ? options->cgroup_name : NULL, arena);
    if (launch->user.changes) {
        char *user = arena_printf(arena, "%u:", (unsigned)launch->user.id);
        for (int i = 0; i < launch->user.group_count; i++)
            user = arena_printf(arena, "%s%s%u", user, i ? "," : "", (unsigned)launch->user.groups[i]);
        add_option(&words, "--user", user);
    }
    char **all = arena_array(arena, words.count + 1, sizeof(*all));
    memcpy(all, words.items, words.count * sizeof(*all));
    return all;
}

// dup2 to 3 and up in the child: first out of the way, since a source may be another's target.
static void pass_descriptors(posix_spawn_file_actions_t *actions, const int fds[PASSED_COUNT])
{
    enum {
        OUT_OF_THE_WAY = 500
    };
    for (int i = 0; i < PASSED_COUNT; i++)
        posix_spawn_file_actions_adddup2(actions, fds[i], OUT_OF_THE_WAY + i);
    for (int i = 0; i < PASSED_COUNT; i++) {
        posix_spawn_file_actions_adddup2(actions, OUT_OF_THE_WAY + i, POD_STATE_FD + i);
        posix_spawn_file_actions_addclose(actions, OUT_OF_THE_WAY + i);
    }
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
}

// What must be known of the pod after a restart of the server, ahead of the supervisor's records.
static bool write_holdings(const struct local_options *options, const struct launch *launch,
                           const struct isolation *isolation, int state_fd, struct arena *arena)
{
    const struct ports *ports = &launch->ports;
    return dprintf(state_fd, "holds %" PRIx64 " %.127s %.127s\n", launch->gpus, launch->project, launch->workload) >
               0 &&
           (!ports->count || dprintf(state_fd, "ports %" PRId64 " %" PRId64 " %s\n", ports->first, ports->count,
                                     ports->workload_uuid) > 0) &&
           (!launch->mig_instances ||
            dprintf(state_fd, "mig %s\n", mig_list(options->mig, options->mig_count, launch->mig_instances, arena)) >
                0) &&
           (!launch->group || dprintf(state_fd, "group %u\n", (unsigned)launch->group) > 0) &&
           (!launch->user.changes || dprintf(state_fd, "user %u\n", (unsigned)launch->user.id) > 0) &&
           (!launch->reaches_workload || dprintf(state_fd, "launcher\n") > 0) &&
           (!isolation->shm_bytes || dprintf(state_fd, "shm\n") > 0) &&
           (!launch->bounds.memory_bytes || dprintf(state_fd, "memory %" PRId64 " %s\n", launch->bounds.memory_bytes,
                                                    launch->bounds.is_memory_default ? "default" : "asked") > 0) &&
           (!launch->container || dprintf(state_fd, "container %.400s\n", launch->container) > 0);
}

// What a container runtime reads, or the pod's rows are made from: only the server's user may, since secrets are in it.
static int write_file(int folder_fd, const char *name, const char *text, struct error *err)
{
    if (!text)
        return 0;
    int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    size_t length = strlen(text);
    bool is_written = fd >= 0 && write(fd, text, length) == (ssize_t)length;
    int code = errno;
    if (fd >= 0)
        close(fd);
    return is_written ? 0 : error_set(err, ERROR_UNAVAILABLE, "the pod's %s: %s", name, strerror(code));
}

// Without any variable: a program with rights obeys some, even before it begins.
static pid_t spawn(const struct local_options *options, char *const *arguments, const int fds[PASSED_COUNT],
                   struct error *err)
{
    static char *const NO_VARIABLES[] = {NULL};
    pid_t pid;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    pass_descriptors(&actions, fds);
    int rc = posix_spawn(&pid, options->supervisor, &actions, NULL, arguments, NO_VARIABLES);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 ? pid : error_set(err, ERROR_UNAVAILABLE, "the supervisor cannot be started: %s", strerror(rc));
}

pid_t launch_start(const struct local_options *options, const struct cgroups *cgroups, const char *uuid, int home_fd,
                   int folder_fd, const struct launch *launch, struct error *err)
{
    struct arena arena;
    pid_t pid = -1;
    int state_fd = -1, handover_fd = -1;
    arena_init(&arena);
    struct isolation isolation = isolation_of(options, launch, uuid, &arena);
    if ((launch->home && homes_make(launch->home, &launch->user, err) < 0) ||
        volumes_make(&launch->volumes, &launch->user, err) < 0 || isolation_make(&isolation, err) < 0 ||
        write_file(folder_fd, POD_ENVIRONMENT_FILE, launch->environment_file, err) < 0 ||
        write_file(folder_fd, POD_ROW_FILE, launch->record, err) < 0)
        goto done;
    if (launch_hand_over(launch, &isolation, &handover_fd, err) < 0)
        goto done;
    state_fd = pod_folder_create_state(folder_fd, err);
    if (state_fd < 0)
        goto done;
    if (!write_holdings(options, launch, &isolation, state_fd, &arena))
        log_write(LOG_WARN, "backends", "pod=%s: what it holds is not written down: %s", uuid, strerror(errno));
    pid = spawn(options, make_arguments(options, cgroups, uuid, launch, &isolation, &arena),
                (const int[]){state_fd, folder_fd, home_fd, handover_fd}, err);
done:
    if (state_fd >= 0)
        close(state_fd); // the lock stays with the supervisor's copy
    if (handover_fd >= 0)
        close(handover_fd);
    arena_done(&arena);
    return pid;
}
