// Passwords: Argon2id, two passes over 64 MiB. At most two are worked on at a time, so that a storm of sign-ins takes
// 128 MiB and never all cores. Some wait, a few of one address; those whose tries failed lately wait in a smaller room
// of their own, until nobody else does. Whoever finds no room gets ERROR_TOO_MANY. Thread-safe.
#pragma once
#include <stdbool.h>

struct error;
struct passwords;
struct place_book; // base/places.h

enum {
    PASSWORD_HASH_SIZE = 128,
    PASSWORD_MIN = 8,
    PASSWORD_MAX = 255
};

// Who asks.
struct password_caller {
    const char *address;
    bool is_suspect; // tries from there failed lately
};

// book: NULL, or it outlives them.
struct passwords *passwords_create(struct place_book *book);
void passwords_destroy(struct passwords *passwords); // NULL is fine

int password_hash(struct passwords *passwords, const char *password, char out_hash[PASSWORD_HASH_SIZE],
                  struct error *err);
// hash NULL (there is no such user) takes as long as any other, and never matches.
int password_verify(struct passwords *passwords, const struct password_caller *caller, const char *hash,
                    const char *password, bool *out_matches, struct error *err);
// ERROR_INVALID `FIELD: ...` where it has fewer characters than `least`, or more than PASSWORD_MAX.
int password_check_length(const char *field, const char *password, int least, struct error *err);
// A temporary one for a new user or the first start.
enum {
    PASSWORD_RANDOM_SIZE = 25
};
void password_random(char out[PASSWORD_RANDOM_SIZE]);
