// mpirun without ssh: all pods of a workload are processes of one machine.
//
//   prorata-mpi-agent --launch NAME:SLOTS[,NAME:SLOTS]... COMMAND [ARGUMENT]...
//       the launcher: names the workers as hosts to the mpirun that the command will start
//   prorata-mpi-agent --wait
//       a worker without a command of its own: is there, with its devices, until it is stopped
//   prorata-mpi-agent [-OPTION]... NAME WORD...
//       what mpirun calls in place of ssh: runs the words by a shell as the pod NAME would, with its environment and in
//       its folder. The pod is found by its environment, which only processes of the same user may read.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    EXIT_UNAVAILABLE = 69,
    EXIT_NOT_STARTED = 127,
    PATH_SIZE = 320, // of a path below /proc
    FOLDERS_OPEN = 16,
    ENVIRONMENT_MAX = 4 << 20
};

static _Noreturn void fail(int code, const char *what, const char *about)
{
    fprintf(stderr, "prorata-mpi-agent: %s%s%s\n", what, about ? ": " : "", about ? about : "");
    exit(code);
}

// A file without a name, which lives as long as a process that has it open; `variable` tells where it is.
static void pass_file(const char *variable, const char *other_variable, const char *text)
{
    char path[PATH_SIZE];
    int fd = memfd_create("hosts", 0);
    size_t length = strlen(text);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length)
        fail(EXIT_UNAVAILABLE, "the list of hosts cannot be written", NULL);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv(variable, path, 1);
    if (other_variable)
        setenv(other_variable, path, 1);
}

// NAME:SLOTS,... with each on a line of its own and another text between name and slots. The caller frees it.
static char *write_hosts(const char *hosts, const char *between)
{
    size_t size = strlen(hosts) * (strlen(between) + 1) + 2, length = 0;
    char *text = malloc(size);
    if (!text)
        fail(EXIT_UNAVAILABLE, "out of memory", NULL);
    for (; *hosts; hosts++) {
        if (*hosts == ':')
            length += (size_t)snprintf(text + length, size - length, "%s", between);
        else
            text[length++] = *hosts == ',' ? '\n' : *hosts;
    }
    text[length] = '\n';
    text[length + 1] = '\0';
    return text;
}

// The folder for temporary files of all of the workload's daemons.
static void name_folder(char folder[PATH_SIZE], const char *pod)
{
    const char *workload = getenv("RUNAI_JOB_UUID");
    snprintf(folder, PATH_SIZE, "/tmp/prorata-mpi-%.36s%s%.200s", workload ? workload : "none", pod ? "/" : "",
             pod ? pod : "");
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

// Runs it and cleans up behind it and the daemons. As shells do, the exit code of what died by a signal is 128 more.
static int run_command(char **command)
{
    char folder[PATH_SIZE];
    int status = 0;
    name_folder(folder, NULL);
    if (mkdir(folder, S_IRWXU) < 0)
        fail(EXIT_UNAVAILABLE, "no folder for temporary files", folder);
    pid_t pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        perror(command[0]);
        _exit(EXIT_NOT_STARTED);
    }
    signal(SIGTERM, SIG_IGN); // the command gets it, too
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    (void)nftw(folder, remove_entry, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    return pid < 0 ? EXIT_UNAVAILABLE : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int launch(const char *hosts, char **command)
{
    static char self[4096];
    char *slots = write_hosts(hosts, " slots="), *plain = write_hosts(hosts, ":");
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
        fail(EXIT_UNAVAILABLE, "cannot find this program's own path", NULL);
    // Open MPI 4 and 5; MPICH and Intel MPI. All are on this machine.
    pass_file("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", slots);
    pass_file("HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE", plain);
    static const char *const AGENT[] = {"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER_EXEC",
                                        "I_MPI_HYDRA_BOOTSTRAP_EXEC"};
    for (size_t i = 0; i < sizeof(AGENT) / sizeof(AGENT[0]); i++)
        setenv(AGENT[i], self, 1);
    static const char *const SETTINGS[][2] = {
        {"OMPI_MCA_plm_rsh_no_tree_spawn", "1"},
        {"PRTE_MCA_plm_ssh_no_tree_spawn", "1"},
        {"OMPI_MCA_oob_tcp_if_include", "lo"},
        {"OMPI_MCA_btl_tcp_if_include", "lo"},
        {"OMPI_MCA_btl", "^vader"}, // names its shared memory by host and rank on it: two pods would meet
        {"PRTE_MCA_prte_if_include", "lo"},
        {"HYDRA_LAUNCHER", "ssh"},
        {"I_MPI_HYDRA_BOOTSTRAP", "ssh"}};
    for (size_t i = 0; i < sizeof(SETTINGS) / sizeof(SETTINGS[0]); i++)
        setenv(SETTINGS[i][0], SETTINGS[i][1], 0);
    free(slots);
    free(plain);
    return run_command(command);
}

static const char *find_variable(const char *environment, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    for (const char *at = environment; at < environment + length; at += strlen(at) + 1)
        if (strncmp(at, name, name_length) == 0 && at[name_length] == '=')
            return at + name_length + 1;
    return NULL;
}

// The environment of a process, each entry ended by NUL; 0: it cannot be read.
static size_t read_environment(const char *pid, char *text)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && length < ENVIRONMENT_MAX;) {
        got = read(fd, text + length, ENVIRONMENT_MAX - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    return length;
}

static bool is_pod(const char *environment, size_t length, const char *name)
{
    const char *workload = getenv("RUNAI_JOB_UUID");
    const char *theirs = find_variable(environment, length, "RUNAI_JOB_UUID");
    const char *pod = find_variable(environment, length, "POD_NAME");
    return workload && theirs && pod && strcmp(workload, theirs) == 0 && strcmp(pod, name) == 0;
}

// By its name, for the pod's namespace of mounts may be another; else by the link itself.
static bool go_to(const char *link)
{
    char path[4096];
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return chdir(path) == 0 || chdir(link) == 0;
}

// Becomes, but for what the launcher's mpirun has set, a process of the pod.
static bool enter(const char *name)
{
    char path[PATH_SIZE];
    char *text = malloc(ENVIRONMENT_MAX + 1);
    DIR *processes = opendir("/proc");
    bool found = false;
    for (struct dirent *entry; text && processes && !found && (entry = readdir(processes));) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        size_t length = read_environment(entry->d_name, text);
        found = is_pod(text, length, name);
        for (char *at = text; found && at < text + length; at += strlen(at) + 1)
            if (strchr(at, '='))
                putenv(at);
        snprintf(path, sizeof(path), "/proc/%s/cwd", entry->d_name);
        if (found && !go_to(path))
            fail(EXIT_UNAVAILABLE, "the working folder cannot be entered", name);
    }
    if (processes)
        closedir(processes);
    return found; // the text stays: it is the environment now
}

static _Noreturn void run_there(char **words)
{
    while (words[0] && words[0][0] == '-')
        words++;
    if (!words[0] || !words[1])
        fail(EXIT_USAGE, "mpirun gave no host and command", NULL);
    if (!enter(words[0]))
        fail(EXIT_UNAVAILABLE, "no process of this pod runs here", words[0]);
    size_t size = 1;
    for (char **word = words + 1; *word; word++)
        size += strlen(*word) + 1;
    char *line = calloc(size, 1);
    if (!line)
        fail(EXIT_UNAVAILABLE, "out of memory", NULL);
    for (char **word = words + 1; *word; word++) // as ssh joins them
        strcat(strcat(line, *word), word[1] ? " " : "");
    char folder[PATH_SIZE]; // of its own: daemons name their files by host, and all pods are on one
    name_folder(folder, getenv("POD_NAME"));
    if (mkdir(folder, S_IRWXU) == 0 || errno == EEXIST)
        setenv("TMPDIR", folder, 1);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    perror("/bin/sh");
    exit(EXIT_NOT_STARTED);
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "--launch") == 0)
        return launch(argv[2], argv + 3);
    if (argc == 2 && strcmp(argv[1], "--wait") == 0)
        for (;;)
            pause();
    if (argc < 3)
        fail(EXIT_USAGE, "is started by prorata and by mpirun; see its source", NULL);
    run_there(argv + 1);
}
