// What a submission says, on its way from the server to a supervisor: variables, words, paths. It goes by a descriptor
// (POD_HANDOVER_FD) and never by the supervisor's own environment or words: what a user may write can thus neither
// change how a program with rights runs, nor be read in /proc/PID/cmdline.
//
// A memfd, sealed when it is whole: HANDOVER_BEGIN, then texts, each a letter of enum handover_kind with the text
// behind it, then HANDOVER_END; a zero byte behind each of them. Texts of a kind keep their order.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define HANDOVER_BEGIN "prorata 1"
#define HANDOVER_END "."

enum {
    HANDOVER_BYTES_MAX = 8 << 20, // the kernel starts nothing with more than 6 MiB of variables and words
    HANDOVER_TEXTS_MAX = 1 << 18,
    HANDOVER_NEEDS_MAX = 32, // host paths of a pod; who submits more is refused
    HANDOVER_KEPT_MAX = 16,
    HANDOVER_KIND_COUNT = 9
};

enum handover_kind {
    HANDOVER_VARIABLE = 'e',        // of the pod's processes: used with the rights of the pod's user alone
    HANDOVER_RIGHTS_VARIABLE = 'r', // of what keeps rights: a container runtime's client; the server's own
    HANDOVER_COMMAND = 'c',         // its words; at least one
    HANDOVER_BEFORE = 'b',          // the words of what runs before it
    HANDOVER_PRE_STOP = 'p',        // before it is told to stop
    HANDOVER_AFTER = 'a',           // when it is over
    HANDOVER_FOLDER = 'f',          // where it starts; one
    HANDOVER_NEED = 'n',            // a path that its user must be able to enter or read
    HANDOVER_KEPT = 'k'             // a folder below /tmp or /var/tmp that stays the host's
};

struct handover {
    char *text;   // what was read; the texts are in it
    char **texts; // the kinds one after another, a NULL behind each
    size_t starts[HANDOVER_KIND_COUNT], counts[HANDOVER_KIND_COUNT];
};

// Reads what stands in text, which stays the caller's, must outlive *out and need not end with a zero byte. False: it
// is not whole, or beyond a bound; *out is empty then. Without memory: false, too.
bool handover_parse(char *text, size_t length, struct handover *out);
// The same of a descriptor that holds a sealed memfd, at any place of it.
bool handover_read(int fd, struct handover *out);
void handover_done(struct handover *handover); // the empty one is fine
// The texts of a kind, a NULL behind them.
char *const *handover_list(const struct handover *handover, enum handover_kind kind, size_t *out_count);
