#include "tests/support/side_program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void become(const char *const *words)
{
    char path[1024];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (strncmp(words[0], "./", 2) != 0) {
        execvp(words[0], (char **)words);
    } else if (length > 0) {
        path[length] = '\0';
        char *end = strrchr(path, '/');
        snprintf(end, sizeof(path) - (size_t)(end - path), "%s", words[0] + 1);
        execv(path, (char **)words);
    }
    _exit(127);
}

void side_program_start(struct side_program *program, const char *const *words)
{
    int input[2], output[2];
    char line[128] = "";
    if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
        fail("pipe");
    program->pid = fork();
    if (program->pid < 0)
        fail("fork");
    if (program->pid == 0) {
        dup2(input[0], 0);
        dup2(output[1], 1);
        become(words);
    }
    close(input[0]);
    close(output[1]);
    program->input = input[1];
    program->output = output[0];
    for (size_t length = 0; length + 1 < sizeof(line) && !strchr(line, '\n'); length++)
        if (read(program->output, line + length, 1) != 1)
            fail(words[0]);
    const char *colon = strrchr(line, ':');
    program->port = atoi(colon ? colon + 1 : line);
}

void side_program_stop(struct side_program *program)
{
    close(program->input);
    waitpid(program->pid, NULL, 0);
    close(program->output);
}
