// Slows the guessing of passwords: failed tries are counted per address (of IPv6 its /64), and per account at an
// address. The first few are free; after that each failure doubles the time until the next try is looked at. A sign-in
// that works clears the account there. Nobody is slowed by the failures of other addresses: else whoever knows a name
// could keep its owner out. Thread-safe.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sign_in_limits;

enum {
    SIGN_IN_ACCOUNT_FREE = 5,  // tries without a wait, from one address
    SIGN_IN_ADDRESS_FREE = 20, // more people share one
    SIGN_IN_ACCOUNT_WAIT_MAX_S = 60,
    SIGN_IN_ADDRESS_WAIT_MAX_S = 300,
};

struct sign_in_limits *sign_in_limits_create(void);
void sign_in_limits_destroy(struct sign_in_limits *limits); // NULL is fine

// Asks before the password is looked at. 0: go on, and tell the outcome by sign_in_limits_end; else the seconds until a
// try is welcome again. Tries may run side by side only while there are free ones, so that a burst does not slip
// through.
int64_t sign_in_limits_begin(struct sign_in_limits *limits, const char *account, const char *address, int64_t now_ms);

// Whether tries from the address failed lately: others are served first where many wait.
bool sign_in_limits_is_suspect(struct sign_in_limits *limits, const char *address, int64_t now_ms);

enum sign_in_outcome {
    SIGN_IN_SUCCEEDED, // clears the account at this address
    SIGN_IN_FAILED,
    SIGN_IN_NOT_TRIED, // the password was not looked at after all
};
void sign_in_limits_end(struct sign_in_limits *limits, const char *account, const char *address,
                        enum sign_in_outcome outcome, int64_t now_ms);
