// A row of a list is brief: what its submitter may make as long as he likes (environment, command, arguments,
// addresses, images) takes WORKLOAD_BRIEF_BYTES of it at most. Cut where it is read, so that rows of older releases are
// cut too.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct buffer;

enum {
    WORKLOAD_BRIEF_BYTES = 4096
};

// Appends the members of a listing (model/workload_listing.h): objects and lists lose what does not fit from their end,
// texts are cut. True where something is missing. Linear in the listing; takes no memory of its own.
bool workload_brief_append(const char *listing, struct buffer *out);

// True for a member that may be cut.
bool workload_brief_cuts(const char *name);
// Appends those members of a JSON object whose names are asked for, without braces: "a":1,"b":[]. object is as
// json_writer writes it. Linear in it, times count of names for each member.
void workload_brief_pick(const char *object, const char *const *names, size_t count, struct buffer *out);
