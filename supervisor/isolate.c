#include "supervisor/isolate.h"

#include "supervisor/state.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TREES_MAX = HANDOVER_KEPT_MAX + HANDOVER_NEEDS_MAX + 1,
    FOLDER_MODE = 0755,
    TMP_MODE = 01700,
    GROUPS_MAX = 256,
    PLACE_SIZE = 1024,
    JOIN_TRIES = 500, // of a supervisor that has just begun
    JOIN_PAUSE_NS = 10 * 1000 * 1000
};

static const char *const SHARED[] = {"/tmp", "/var/tmp"};
static const char *const OWN[] = {"tmp", "var-tmp"};

enum {
    SHARED_COUNT = sizeof(SHARED) / sizeof(SHARED[0])
};

struct tree {
    int fd;
    char path[PATH_MAX]; // without links
    bool is_folder;
};

struct work {
    const struct isolation *isolation;
    const struct command_options *options;
    int failure_fd;
    pid_t parent;
    struct tree trees[TREES_MAX];
    int tree_count;
    bool stays[SHARED_COUNT]; // the specification wants the host's
};

enum {
    LOOKS_AT = -1 // what comes next, and may take long
};

// What the maker of the namespaces says: what failed; code 0: it is done.
struct word {
    int code;
    char what[64];
};

static _Noreturn void tell(const struct work *work, int code, const char *what)
{
    struct word word = {.code = code};
    snprintf(word.what, sizeof(word.what), "%s", what);
    (void)!write(work->failure_fd, &word, sizeof(word));
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); // now, for a change of user clears it
    if (getppid() != work->parent)
        _exit(1);
    for (;;)
        pause(); // until it is killed: the namespaces live as long
}

static void tell_stage(const struct work *work, const char *what)
{
    struct word word = {.code = LOOKS_AT};
    snprintf(word.what, sizeof(word.what), "%s", what);
    (void)!write(work->failure_fd, &word, sizeof(word));
}

static void check(const struct work *work, bool is_good, const char *what)
{
    if (!is_good)
        tell(work, errno ? errno : EINVAL, what);
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1];
}

// Where what is open lies. False: not where it could be opened by that name, as through /proc/PID/cwd.
static bool find_name(int fd, struct tree *out)
{
    char link[32];
    struct stat about, named;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out->path, sizeof(out->path) - 1);
    out->path[length > 0 ? length : 0] = '\0';
    if (length <= 0 || fstat(fd, &about) < 0 || lstat(out->path, &named) < 0)
        return false;
    out->is_folder = S_ISDIR(about.st_mode);
    return about.st_dev == named.st_dev && about.st_ino == named.st_ino;
}

static void keep_open(struct work *work, int fd, bool is_asked_for)
{
    struct tree *tree = &work->trees[work->tree_count];
    bool is_hidden = false;
    if (!find_name(fd, tree))
        return;
    for (int i = 0; i < SHARED_COUNT; i++) {
        is_hidden = is_hidden || is_below(tree->path, SHARED[i]);
        work->stays[i] = work->stays[i] || (is_asked_for && strcmp(tree->path, SHARED[i]) == 0);
    }
    if (!is_hidden)
        return;
    tree->fd = open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
    work->tree_count += tree->fd >= 0;
}

// Looked up once, with the rights of the pod's user: a link in a folder that others write to leads nowhere he could not
// go, also where it is put there meanwhile.
static void keep(struct work *work, const char *path, bool is_asked_for)
{
    assert(work->tree_count < TREES_MAX); // handover.h bounds them
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    keep_open(work, fd, is_asked_for);
    close(fd);
}

static void keep_as_user(struct work *work)
{
    const struct command_options *options = work->options;
    gid_t groups[GROUPS_MAX];
    int count = getgroups(GROUPS_MAX, groups);
    size_t said;
    if (options->changes_user) {
        check(work, count >= 0 && setgroups((size_t)options->group_count, options->groups) == 0, "user");
        setfsgid(options->group);
        setfsuid(options->user);
    }
    for (char *const *kept = handover_list(&options->said, HANDOVER_KEPT, &said); *kept; kept++)
        keep(work, *kept, false);
    tell_stage(work, "working folder");
    keep(work, handover_list(&options->said, HANDOVER_FOLDER, &said)[0], false);
    for (char *const *need = handover_list(&options->said, HANDOVER_NEED, &said); *need; need++) {
        tell_stage(work, *need);
        keep(work, *need, true);
    }
    if (!options->changes_user)
        return;
    setfsuid(0);
    setfsgid(0);
    check(work, setgroups((size_t)count, groups) == 0, "user");
}

static void make_place(const char *path, bool is_folder)
{
    static char part[PATH_MAX];
    snprintf(part, sizeof(part), "%s", path);
    for (char *at = strchr(part + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(part, FOLDER_MODE); // most are there
        *at = '/';
    }
    if (is_folder)
        (void)mkdir(part, FOLDER_MODE);
    else
        (void)close(open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
}

// Where it was, below the folders that are covered. What is in another one comes with it.
static void put_back(const struct work *work, const struct tree *tree)
{
    for (int k = 0; k < work->tree_count; k++)
        if (is_below(tree->path, work->trees[k].path) ||
            (&work->trees[k] < tree && strcmp(tree->path, work->trees[k].path) == 0))
            return;
    for (int i = 0; i < SHARED_COUNT; i++)
        if (!work->stays[i] && is_below(tree->path, SHARED[i])) {
            make_place(tree->path, tree->is_folder);
            check(work, move_mount(tree->fd, "", AT_FDCWD, tree->path, MOVE_MOUNT_F_EMPTY_PATH) == 0, tree->path);
        }
}

// The pod's own folder is root's until everything is in place: nobody can put a link in the way.
static void cover(struct work *work)
{
    char path[PLACE_SIZE];
    int own[SHARED_COUNT], places[SHARED_COUNT];
    struct stat about;
    for (int i = 0; i < SHARED_COUNT; i++) {
        snprintf(path, sizeof(path), "%s/%s", work->isolation->place, OWN[i]);
        places[i] = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        own[i] = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (unsigned)AT_SYMLINK_NOFOLLOW);
        check(work, places[i] >= 0 && own[i] >= 0, "the pod's own /tmp");
    }
    for (int i = 0; i < SHARED_COUNT; i++)
        if (!work->stays[i] && lstat(SHARED[i], &about) == 0 && S_ISDIR(about.st_mode))
            check(work, move_mount(own[i], "", AT_FDCWD, SHARED[i], MOVE_MOUNT_F_EMPTY_PATH) == 0, SHARED[i]);
    for (int k = 0; k < work->tree_count; k++)
        put_back(work, &work->trees[k]);
    for (int i = 0; i < SHARED_COUNT; i++)
        check(work,
              (!work->options->changes_user || fchown(places[i], work->options->user, work->options->group) == 0) &&
                  fchmod(places[i], TMP_MODE) == 0,
              "the pod's own /tmp");
}

static int open_namespace(pid_t pid, const char *kind)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kind);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_same(int a, int b)
{
    struct stat left, right;
    return fstat(a, &left) == 0 && fstat(b, &right) == 0 && left.st_ino == right.st_ino;
}

// The IPC namespace of the other pod, which its supervisor enters last; -1: it has gone, or has none of its own.
static int find_shared(const struct isolation *isolation)
{
    int own = open_namespace(getpid(), "ipc"), other = -1;
    for (int i = 0; isolation->join && i < JOIN_TRIES; i++) {
        other = open_namespace(isolation->join, "ipc");
        bool lives = state_start_time(isolation->join) == (unsigned long long)isolation->join_start;
        if (other < 0 || (lives && !is_same(own, other))) // it is ready, or gone
            break;
        close(other);
        other = -1;
        if (!lives)
            break;
        nanosleep(&(struct timespec){.tv_nsec = JOIN_PAUSE_NS}, NULL);
    }
    close(own);
    return other;
}

// Its /dev/shm, as a tree that can be mounted here.
static int open_shared(const struct isolation *isolation)
{
    int own = open_namespace(getpid(), "mnt"), other = open_namespace(isolation->join, "mnt"), tree = -1;
    if (own >= 0 && other >= 0 && setns(other, CLONE_NEWNS) == 0) {
        tree = open_tree(AT_FDCWD, "/dev/shm", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        if (setns(own, CLONE_NEWNS) < 0)
            _exit(1);
    }
    close(own);
    close(other);
    return tree;
}

static void give_memory(const struct work *work, int ipc, int tree)
{
    char options[64];
    snprintf(options, sizeof(options), "mode=1777,size=%" PRId64, work->isolation->shm_bytes);
    if (tree >= 0)
        check(work, move_mount(tree, "", AT_FDCWD, "/dev/shm", MOVE_MOUNT_F_EMPTY_PATH) == 0, "/dev/shm");
    else
        check(work, mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options) == 0 || errno == ENOENT,
              "/dev/shm");
    check(work, ipc >= 0 && tree >= 0 ? setns(ipc, CLONE_NEWIPC) == 0 : unshare(CLONE_NEWIPC) == 0, "shared memory");
    (void)mount("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL); // where there is one
}

static _Noreturn void make(struct work *work)
{
    const struct isolation *isolation = work->isolation;
    int ipc = isolation->shm_bytes ? find_shared(isolation) : -1, tree = ipc >= 0 ? open_shared(isolation) : -1;
    errno = 0;
    umask(0); // modes are as they are said
    check(work, unshare(CLONE_NEWNS) == 0 && mount("", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0, "mounts of its own");
    if (isolation->place) {
        keep_as_user(work);
        cover(work);
    }
    if (isolation->shm_bytes)
        give_memory(work, ipc, tree);
    tell(work, 0, "");
}

// Into what was made. The namespace of mounts it was in stays known.
static bool enter(struct isolation *isolation, pid_t pid)
{
    int mounts = open_namespace(pid, "mnt"), ipc = open_namespace(pid, "ipc");
    isolation->host_fd = open_namespace(getpid(), "mnt");
    bool is_in = mounts >= 0 && ipc >= 0 && isolation->host_fd >= 0 &&
                 (!isolation->shm_bytes || setns(ipc, CLONE_NEWIPC) == 0) && setns(mounts, CLONE_NEWNS) == 0;
    int code = errno;
    close(mounts);
    close(ipc);
    errno = code;
    return is_in;
}

bool isolate(struct isolation *isolation, const struct command_options *options, int *out_errno, const char **out_what)
{
    static struct work work;
    static struct word word;
    int ends[2], status;
    *out_what = "folders below /tmp";
    isolation->host_fd = -1;
    if (!isolation->place && !isolation->shm_bytes)
        return true;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        *out_errno = errno;
        return false;
    }
    // A child makes them: it may wait for a file system for ever, and can be killed.
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        work = (struct work){.isolation = isolation, .options = options, .failure_fd = ends[1], .parent = parent};
        make(&work);
    }
    word = (struct word){.code = pid < 0 ? errno : LOOKS_AT, .what = "folders below /tmp"};
    close(ends[1]);
    while (pid > 0 && word.code == LOOKS_AT)
        if (!options->await(options->context, pid, ends[0], word.what))
            word.code = ETIMEDOUT;
        else if (read(ends[0], &word, sizeof(word)) != (ssize_t)sizeof(word))
            word.code = EIO;
    if (word.code == 0 && !enter(isolation, pid))
        word.code = errno;
    if (word.what[0])
        *out_what = word.what;
    *out_errno = word.code;
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        if (word.code != ETIMEDOUT)
            (void)waitpid(pid, &status, 0);
    }
    return word.code == 0;
}

void isolate_leave(const struct isolation *isolation)
{
    if (isolation->host_fd >= 0)
        (void)setns(isolation->host_fd, CLONE_NEWNS);
}
