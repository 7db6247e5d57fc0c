// What one caller's reading requests may take at once, so that the others' go on: half of the database's readers, and
// 16 MiB of answers that are not sent yet. In all, 64 MiB of answers wait to be sent; beyond that only who has none of
// them is let in. Who is over waits, and is refused after a while; at once where an eighth of the threads waits for his
// sake, or a quarter for all. Bodies of requests have bounds of the same kind, 4 MiB a caller and 16 MiB in all, and
// are refused at once: a tree of JSON is a dozen times its text. Streams take no share.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct error;
struct share;
struct shares;

// All 0: nothing is held.
struct held_body {
    struct share *share;
    size_t bytes;
};

// For so many threads: each holds one share at most.
struct shares *shares_create(size_t thread_count);
void shares_destroy(struct shares *shares); // NULL is fine
// Of all callers: of answers, of bodies.
void shares_read(struct shares *shares, size_t *out_bytes, size_t *out_body_bytes);
// Whoever waits is refused from now on.
void shares_stop(struct shares *shares);

// Waits until the caller may read. ERROR_UNAVAILABLE where he may not for long.
int shares_begin(struct shares *shares, int subject_type, int64_t subject_id, struct share **out_share,
                 struct error *err);
// He has read; answer_bytes of memory are kept until the answer is sent.
void shares_end_reading(struct shares *shares, struct share *share, size_t answer_bytes);
// A request's body is, or grows to, so many bytes. ERROR_UNAVAILABLE where that is too much together with others of the
// caller's, or of all; who has no other is never refused.
int shares_hold_body(struct shares *shares, int subject_type, int64_t subject_id, size_t bytes, struct held_body *held,
                     struct error *err);
void shares_give_body(struct shares *shares, const struct held_body *held);
// The answer is gone, with as many bytes.
void shares_end(struct shares *shares, struct share *share, size_t answer_bytes);
