// Whether a snapshot keeps what snapshot.h asks of its maker: order of names, indices in range, no negative amounts.
#pragma once
struct snapshot;
struct error;

// ERROR_INVALID with the path of the first thing that is wrong. O(size).
int snapshot_check(const struct snapshot *snapshot, struct error *err);
