// Numbers of users or groups of this machine that nobody else has: START+COUNT. A user for each project, a group for
// each pod.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;

#define UID_RANGE_DEFAULT "2000000000+65536"
#define GID_RANGE_DEFAULT "2000065536+65536"

struct uid_range {
    int64_t first, count; // count 0: none
};

// ERROR_INVALID: not of that form, or no numbers of users.
int uid_range_parse(const char *text, struct uid_range *out_range, struct error *err);
bool uid_range_overlaps(const struct uid_range *one, const struct uid_range *other);
// ERROR_INVALID names the user, the group, the line of /etc/subuid or /etc/subgid, or the use by systemd that it
// overlaps.
int uid_range_check(const struct uid_range *range, struct error *err);
