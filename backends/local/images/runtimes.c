#include "backends/local/images/runtimes.h"

#include "backends/local/images/program.h"
#include "base/arena.h"
#include "base/buffer.h"

#include <string.h>

enum {
    ANSWER_MS = 10000,
    ANSWER_MAX = 4096,
    PATH_SIZE = 1024,
    QUESTION_MAX = 5
};

// What each is asked: the words make the part that runs containers answer, not only the program.
static const struct {
    const char *name;
    const char *question[QUESTION_MAX];
} RUNTIMES[RUNTIME_KIND_COUNT] = {
    [RUNTIME_PODMAN] = {"podman", {"info", "--format", "{{.Version.Version}}"}},
    [RUNTIME_DOCKER] = {"docker", {"version", "--format", "{{.Server.Version}}"}},
    [RUNTIME_APPTAINER] = {"apptainer", {"--version"}},
};

// The last line that says something: tools put warnings before the answer.
static const char *last_line(char *text, struct arena *arena)
{
    const char *last = "";
    for (char *line = text, *end; line && *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        if (*line)
            last = line;
    }
    return arena_strndup(arena, last, strnlen(last, 160));
}

static void ask(struct runtime *runtime, int cancel_fd, struct arena *arena)
{
    const char *argv[QUESTION_MAX + 2] = {runtime->path};
    struct buffer out;
    memcpy(argv + 1, RUNTIMES[runtime->kind].question, sizeof(RUNTIMES[runtime->kind].question));
    buffer_init(&out, ANSWER_MAX);
    int status = program_run(argv, ANSWER_MS, cancel_fd, &out);
    runtime->answers = status == 0;
    if (status == PROGRAM_TIMED_OUT)
        runtime->says = "did not answer in 10 s";
    else
        runtime->says = last_line(out.data ? out.data : (char[]){""}, arena);
    buffer_done(&out);
}

void runtimes_look(int cancel_fd, struct arena *arena, struct runtime out_runtimes[RUNTIME_KIND_COUNT])
{
    char path[PATH_SIZE];
    for (int kind = 0; kind < RUNTIME_KIND_COUNT; kind++) {
        struct runtime *runtime = &out_runtimes[kind];
        *runtime = (struct runtime){.kind = (enum runtime_kind)kind, .name = RUNTIMES[kind].name, .says = ""};
        runtime->path = arena_strdup(arena, program_find(runtime->name, path, sizeof(path)));
        if (runtime->path)
            ask(runtime, cancel_fd, arena);
    }
}

const struct runtime *runtimes_choose(const struct runtime runtimes[RUNTIME_KIND_COUNT])
{
    for (int kind = 0; kind < RUNTIME_KIND_COUNT; kind++)
        if (runtimes[kind].answers)
            return &runtimes[kind];
    return NULL;
}
