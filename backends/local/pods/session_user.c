#include "backends/local/pods/session_user.h"

#include "backends/backend.h"
#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// The user of a process that runs; of one whose memory others may not read it is root, which is nobody's own.
static bool read_user(pid_t pid, uid_t *out_id)
{
    char path[32];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (pid <= 0 || stat(path, &info) < 0 || info.st_uid == 0)
        return false;
    *out_id = info.st_uid;
    return true;
}

// Whether a pod of the project that this one submits would run as the user.
static bool would_be(const struct user_rules *rules, const struct backend_pod *pod, const char *subject,
                     const char *machine_user, uid_t id, struct arena *arena)
{
    struct user_claim claim = {pod->project_name, pod->project_number, subject, machine_user};
    struct local_user user;
    return users_find(rules, &claim, false, arena, &user, NULL) == 0 && user.id == id;
}

static int check(const struct user_rules *rules, const struct backend_pod *pod, const struct backend_caller *caller,
                 pid_t pid, struct arena *arena, struct error *err)
{
    struct user_claim claim = {pod->project_name, pod->project_number, pod->submitted_by, pod->machine_user};
    struct local_user user;
    uid_t id;
    if (!read_user(pid, &id)) {
        if (users_find(rules, &claim, false, arena, &user, err) < 0)
            return -1;
        id = user.id;
    }
    if (would_be(rules, pod, NULL, NULL, id, arena) ||
        would_be(rules, pod, caller->name, caller->machine_user, id, arena))
        return 0;
    error_set(err, ERROR_FORBIDDEN, "it runs as a person of this machine, user %u, who alone may say what runs in it",
              (unsigned)id);
    return error_details(err, "your own pods in this project would run as another user");
}

int session_user_check(const struct user_rules *rules, const struct backend_pod *pod,
                       const struct backend_caller *caller, pid_t pid, struct error *err)
{
    struct arena arena;
    if (geteuid() != 0 || caller->is_root)
        return 0;
    arena_init(&arena);
    int rc = check(rules, pod, caller, pid, &arena, err);
    arena_done(&arena);
    return rc;
}
