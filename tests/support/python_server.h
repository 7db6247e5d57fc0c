// A server in Python beside a test in C: it prints its port as its first line and ends when its standard input closes.
#pragma once

struct python_server {
    int pid;
    int input, output;
    int port;
};

// script is a path from the repository's root; word is handed to it. Ends the test where it does not start.
void python_server_start(struct python_server *server, const char *script, const char *word);
void python_server_stop(struct python_server *server);
