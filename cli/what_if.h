// Printing what the scheduler would do, and why something waits.
#pragma once
#include <jansson.h>

struct cli;

enum {
    EXIT_WAITS = 3 // of --what-if, where the workload would wait
};

// The server's answer to a what-if question, for a person.
void what_if_print(struct cli *cli, const json_t *answer);
// The answer to what a change of quotas leads to.
void what_if_print_quota(struct cli *cli, const json_t *answer);
// What would start it, and who holds what; nothing where the answer has none.
void what_if_print_fixes(const json_t *answer);
// These in one line, without what they cost: "Use node pool big; or ask for 2 GPUs instead of 8". "" where there is
// none.
const char *what_if_fixes_text(struct cli *cli, const json_t *answer);
void what_if_print_holders(struct cli *cli, const json_t *findings);
