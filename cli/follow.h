// A log that is followed: over every break of the connection, until the server says that it has ended.
#pragma once
#include "cli/command.h"

// Prints what the path of a log gives; it has its query, without follow. What comes after a break is what came behind
// the last whole piece: nothing is lost or told twice. Which pod comes next goes to standard error. An error says why
// the log could not be followed to its end: the sign-in ended and nobody has signed in again since, the server did not
// answer for AGAIN_FOR_MS, or it refuses.
int cli_follow_log(struct cli *cli, const char *path, struct error *err);
