// A program beside a test in C: it prints its port, or an address with it, as its first line and ends when its standard
// input closes.
#pragma once

struct side_program {
    int pid;
    int input, output;
    int port;
};

// words[0] is searched in PATH, or where this test's own program lies where it begins with "./"; they end with NULL.
// Ends the test where it does not start.
void side_program_start(struct side_program *program, const char *const *words);
void side_program_stop(struct side_program *program);
