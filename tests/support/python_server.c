#include "tests/support/python_server.h"

#include <fcntl.h>
#include <signal.h>
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

void python_server_start(struct python_server *server, const char *script, const char *word)
{
    int input[2], output[2];
    char line[64] = "";
    if (pipe2(input, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0)
        fail("pipe");
    server->pid = fork();
    if (server->pid < 0)
        fail("fork");
    if (server->pid == 0) {
        dup2(input[0], 0);
        dup2(output[1], 1);
        execlp("/usr/bin/python3", "python3", script, word, (char *)NULL);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    server->input = input[1];
    server->output = output[0];
    for (size_t length = 0; length + 1 < sizeof(line) && !strchr(line, '\n'); length++)
        if (read(server->output, line + length, 1) != 1)
            fail(script);
    server->port = atoi(line);
}

void python_server_stop(struct python_server *server)
{
    close(server->input);
    waitpid(server->pid, NULL, 0);
    close(server->output);
}
