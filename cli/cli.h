// The client commands: `prorata training submit ...`, and the same through a link named `runai`.
#pragma once

// argv[0] is the program's name; the command's words follow. Returns the exit status: 0, or 1 with `Error: ...` on
// standard error.
int cli_main(int argc, char **argv);
// True where the words begin with a command that the client has (so that main can hand over).
int cli_has_command(const char *word);
