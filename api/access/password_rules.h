// What a new password must be: long enough, not its owner's name, none of those that everybody tries first, none of the
// account's last ones. Nothing is said of kinds of characters: such rules make passwords alike.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;

enum {
    PASSWORD_LAST_MAX = 24
};

struct password_rules {
    int length; // characters at least, PASSWORD_MIN to 64
    int last;   // how many of the account's last passwords may not come again, 0 to PASSWORD_LAST_MAX
};

#define PASSWORD_RULES_DEFAULT "length=8,last=3"

// "length=12,last=5"; a part that is left out has the default. ERROR_INVALID `password-rules: ...`.
int password_rules_parse(const char *text, struct password_rules *out_rules, struct error *err);

// ERROR_INVALID `FIELD: ...`. name is the account's e-mail. Passwords of before are the caller's to compare.
int password_rules_check(const struct password_rules *rules, const char *field, const char *password, const char *name,
                         struct error *err);

// Whether it is one of those that are tried first: by itself, with digits or signs around it, or with signs for
// letters.
bool password_is_common(const char *password);
