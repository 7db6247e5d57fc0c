// Who has been let in where: codes, good once and for half a minute, and the passes that codes are exchanged for, which
// browsers hold as cookies. Each is for one person's session at one port of one workload. In memory alone, as hashes:
// after a restart people click once more. Any thread.
#pragma once
#include "apps/address.h"
#include "base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct error;
struct passes;

enum {
    PASS_TEXT_SIZE = 44,
    PASS_NAME_SIZE = 256,
    PASSES_MAX = 4096,
    PASSES_OF_ONE = 64,
    PASS_CODE_SECONDS = 30
};

// Whose session it is, so that it can be asked about again.
struct app_holder {
    char session[UUID_SIZE], subject[UUID_SIZE];
    char name[PASS_NAME_SIZE];
    int64_t machine_uid; // signed in by the machine's socket; -1: not
};

struct app_pass {
    struct app_holder holder;
    struct app_place place;
};

struct passes *passes_create(void);
void passes_destroy(struct passes *passes); // NULL is fine
// A code for the holder. The oldest of theirs gives way where they have too many.
void passes_issue(struct passes *passes, const struct app_pass *pass, int64_t now_us, char out_code[PASS_TEXT_SIZE]);
// Looks at a code without using it up. False: unknown, used, too old, or text is anything.
bool passes_peek(struct passes *passes, const char *code, size_t length, int64_t now_us, struct app_pass *out);
// Uses a code up; a cookie's text. place: where it was shown, and nowhere else is it good; NULL: anywhere.
bool passes_redeem(struct passes *passes, const char *code, size_t length, const struct app_place *place,
                   int64_t now_us, struct app_pass *out, char out_cookie[PASS_TEXT_SIZE]);
// Holds the pass of a cookie that is shown at place. Returns its number, or -1: none.
int passes_hold(struct passes *passes, const char *cookie, size_t length, const struct app_place *place, int64_t now_us,
                struct app_pass *out);
void passes_let_go(struct passes *passes, int number);
bool passes_is_over(struct passes *passes, int number); // of one that is held
// A held pass that nobody has asked about since then, to be asked about now, and held until passes_answer; -1: none.
int passes_next_to_ask(struct passes *passes, int64_t now_us, int64_t since_us, struct app_pass *out);
// Ends a pass, or lets it live.
void passes_answer(struct passes *passes, int number, bool is_over);
