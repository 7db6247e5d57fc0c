// What a person reads who asks how, or who wrote a word that is none.
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct cli;

// The commands that one needs first, and the words of all others by topic.
void help_first(const char *program, FILE *out);
// Every command with its sentence, a line each.
void help_all(const char *program);
// The commands that begin with the word. Verbs that several kinds share are listed once.
void help_word(const char *program, const char *word, FILE *out);
// The command's usage, flags and examples.
void help_command(const struct cli *cli);
// What is said of words that are no command: what was meant, or what to use in their place. has_first: commands begin
// with the first of them.
void help_unknown(const char *program, int argc, char **argv, bool has_first);
