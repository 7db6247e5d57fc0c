// A segment file: a header, then records one behind the other. Each record has a checksum over its header and one over
// its payload, so that a torn end shows. The payloads of a segment are one deflate stream, flushed after each record:
// JSON of the same form again and again takes a tenth of its size, and to read a record is to read the ones before it,
// which is needed anyway. Numbers are stored in the machine's order: little-endian on what prorata runs on.
//
// A payload is two lines of JSON. The first is an object:
//     rules      everything of the snapshot but lists and time, where it changed
//     put, drop  per list of the snapshot, entries that are new or changed, and names that are gone
//     decided, words  the plan's digests (digest.h), each where it is not that of the record before
// The second is the plan's decisions as `prorata simulate` prints them. The first record of a segment changes nothing
// into a whole snapshot.
//
// The file's first bytes name the format. In the first one, PRORATA1, a record has one digest of decisions and words
// together, `digest`. It is read still, and written no more.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

struct buffer;
struct error;

struct record {
    int64_t cycle;
    int64_t time_ms;
    int64_t plan_us;
    uint32_t decision_count;
    uint32_t stored_bytes;
    uint32_t plain_bytes;
    int64_t offset; // of the payload in the file
    uint32_t payload_checksum;
};

// Writing. A segment that failed is to be closed: its stream and its file have parted.
struct segment_writer {
    int fd; // -1: none
    int64_t length;
    int64_t record_count;
    z_stream stream;
};

int segment_create(struct segment_writer *segment, const char *path, struct error *err);
// cycle, time_ms, plan_us, decision_count are the record's. A write that fails leaves the file as it was.
int segment_append(struct segment_writer *segment, const struct record *record, const char *payload, size_t length,
                   struct error *err);
void segment_close(struct segment_writer *segment);

// Reading, also while it is written.
struct segment_reader {
    int fd;
    int64_t length;
    int64_t offset;   // of the next record
    char version[16]; // of the program that wrote it
};

int segment_open(struct segment_reader *segment, const char *path, struct error *err);
void segment_done(struct segment_reader *segment);
// The next record's header, or false at the end, be it torn or not. segment->offset then is the end of the last whole
// one.
bool segment_next(struct segment_reader *segment, struct record *out_record);
// Whether the payload is whole.
bool segment_check(const struct segment_reader *segment, const struct record *record);
// Appends the payload's text to out. Records are to be read in their order; stream is the caller's, from inflateInit.
int segment_read(const struct segment_reader *segment, const struct record *record, z_stream *stream,
                 struct buffer *out, struct error *err);
