// What a person who started the server sees: where it is, how to sign in, what to try next.
#pragma once
#include <stdbool.h>

struct server;
struct settings;

// To standard output. password is shown once, when it was made up; NULL otherwise. -1: errno says why not all was
// written.
int greeting_print(const struct settings *settings, const struct server *server, bool is_first, const char *password);
