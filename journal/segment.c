#include "journal/segment.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEVEL = 3, // of compression: beyond it the time grows and the size hardly shrinks
    RECORD_MAGIC = 0x44434552,
    PLAIN_MAXIMUM = 1 << 30,
    MAGIC_BYTES = 8
};

static const char FILE_MAGIC[MAGIC_BYTES] = "PRORATA2", FILE_MAGIC_BEFORE[MAGIC_BYTES] = "PRORATA1";

struct file_header {
    char magic[MAGIC_BYTES];
    char version[16];
    uint32_t reserved;
    uint32_t checksum; // of what stands before it
};

struct record_header {
    uint32_t magic;
    uint32_t stored_bytes;
    uint32_t plain_bytes;
    uint32_t decision_count;
    int64_t cycle;
    int64_t time_ms;
    int64_t plan_us;
    uint32_t payload_checksum;
    uint32_t checksum; // of what stands before it
};

static uint32_t checksum_of(const void *data, size_t length)
{
    return (uint32_t)crc32_z(0, data, length);
}

// All or nothing: what did not fit is taken off again.
static int write_all(struct segment_writer *segment, const void *data, size_t length, struct error *err)
{
    size_t done = 0;
    while (done < length) {
        ssize_t written =
            pwrite(segment->fd, (const char *)data + done, length - done, segment->length + (int64_t)done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int cause = errno;
            if (ftruncate(segment->fd, segment->length) < 0)
                cause = errno; // the reader finds a torn end
            return error_set(err, ERROR_UNAVAILABLE, "%s", strerror(cause));
        }
        done += (size_t)written;
    }
    segment->length += (int64_t)length;
    return 0;
}

int segment_create(struct segment_writer *segment, const char *path, struct error *err)
{
    struct file_header header = {0};
    *segment = (struct segment_writer){.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (segment->fd < 0)
        return error_set(err, ERROR_UNAVAILABLE, "%s", strerror(errno));
    memcpy(header.magic, FILE_MAGIC, sizeof(header.magic));
    snprintf(header.version, sizeof(header.version), "%s", PRORATA_VERSION);
    header.checksum = checksum_of(&header, offsetof(struct file_header, checksum));
    if (deflateInit(&segment->stream, LEVEL) != Z_OK)
        abort(); // only without memory
    if (write_all(segment, &header, sizeof(header), err) == 0)
        return 0;
    segment_close(segment);
    unlink(path);
    return -1;
}

int segment_append(struct segment_writer *segment, const struct record *record, const char *payload, size_t length,
                   struct error *err)
{
    if (length > PLAIN_MAXIMUM)
        return error_set(err, ERROR_UNAVAILABLE, "a record of %zu bytes is too large", length);
    size_t capacity = deflateBound(&segment->stream, (uLong)length) + 64;
    unsigned char *out = memory_alloc(sizeof(struct record_header) + capacity);
    segment->stream.next_in = (Bytef *)(uintptr_t)payload; // zlib does not write to it
    segment->stream.avail_in = (uInt)length;
    segment->stream.next_out = out + sizeof(struct record_header);
    segment->stream.avail_out = (uInt)capacity;
    if (deflate(&segment->stream, Z_SYNC_FLUSH) != Z_OK || segment->stream.avail_in > 0)
        abort(); // the room is what deflateBound asks for
    struct record_header header = {
        .magic = RECORD_MAGIC,
        .stored_bytes = (uint32_t)(capacity - segment->stream.avail_out),
        .plain_bytes = (uint32_t)length,
        .decision_count = record->decision_count,
        .cycle = record->cycle,
        .time_ms = record->time_ms,
        .plan_us = record->plan_us,
    };
    header.payload_checksum = checksum_of(out + sizeof(header), header.stored_bytes);
    header.checksum = checksum_of(&header, offsetof(struct record_header, checksum));
    memcpy(out, &header, sizeof(header));
    int rc = write_all(segment, out, sizeof(header) + header.stored_bytes, err);
    segment->record_count += rc == 0;
    free(out);
    return rc;
}

void segment_close(struct segment_writer *segment)
{
    if (segment->fd < 0)
        return;
    close(segment->fd);
    deflateEnd(&segment->stream);
    segment->fd = -1;
}

static bool read_all(int fd, void *data, size_t length, int64_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(fd, (char *)data + done, length - done, offset + (int64_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool is_known(const char magic[static MAGIC_BYTES])
{
    return memcmp(magic, FILE_MAGIC, MAGIC_BYTES) == 0 || memcmp(magic, FILE_MAGIC_BEFORE, MAGIC_BYTES) == 0;
}

int segment_open(struct segment_reader *segment, const char *path, struct error *err)
{
    struct file_header header;
    struct stat info;
    *segment = (struct segment_reader){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (segment->fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (fstat(segment->fd, &info) < 0 || !read_all(segment->fd, &header, sizeof(header), 0) ||
        !is_known(header.magic) || header.checksum != checksum_of(&header, offsetof(struct file_header, checksum))) {
        segment_done(segment);
        return error_set(err, ERROR_INVALID, "%s: not a segment of the journal", path);
    }
    segment->length = info.st_size;
    segment->offset = sizeof(header);
    memcpy(segment->version, header.version, sizeof(segment->version));
    segment->version[sizeof(segment->version) - 1] = '\0';
    return 0;
}

void segment_done(struct segment_reader *segment)
{
    if (segment->fd >= 0)
        close(segment->fd);
    segment->fd = -1;
}

bool segment_next(struct segment_reader *segment, struct record *out_record)
{
    struct record_header header;
    if (segment->length - segment->offset < (int64_t)sizeof(header) ||
        !read_all(segment->fd, &header, sizeof(header), segment->offset) || header.magic != RECORD_MAGIC ||
        header.checksum != checksum_of(&header, offsetof(struct record_header, checksum)) ||
        header.plain_bytes > PLAIN_MAXIMUM)
        return false;
    int64_t payload = segment->offset + (int64_t)sizeof(header);
    if (segment->length - payload < (int64_t)header.stored_bytes)
        return false;
    *out_record = (struct record){
        .cycle = header.cycle,
        .time_ms = header.time_ms,
        .plan_us = header.plan_us,
        .decision_count = header.decision_count,
        .stored_bytes = header.stored_bytes,
        .plain_bytes = header.plain_bytes,
        .offset = payload,
        .payload_checksum = header.payload_checksum,
    };
    segment->offset = payload + (int64_t)header.stored_bytes;
    return true;
}

// The stored bytes, or NULL where they are not what was written. The caller frees them.
static unsigned char *read_stored(const struct segment_reader *segment, const struct record *record)
{
    unsigned char *stored = memory_alloc(record->stored_bytes + 1);
    if (read_all(segment->fd, stored, record->stored_bytes, record->offset) &&
        checksum_of(stored, record->stored_bytes) == record->payload_checksum)
        return stored;
    free(stored);
    return NULL;
}

bool segment_check(const struct segment_reader *segment, const struct record *record)
{
    unsigned char *stored = read_stored(segment, record);
    free(stored);
    return stored != NULL;
}

int segment_read(const struct segment_reader *segment, const struct record *record, z_stream *stream,
                 struct buffer *out, struct error *err)
{
    unsigned char *stored = read_stored(segment, record);
    if (!stored)
        return error_set(err, ERROR_INVALID, "the record of cycle %" PRId64 " is damaged", record->cycle);
    char *plain = memory_alloc((size_t)record->plain_bytes + 1);
    stream->next_in = stored;
    stream->avail_in = record->stored_bytes;
    stream->next_out = (Bytef *)plain;
    stream->avail_out = record->plain_bytes;
    int rc = 0;
    while (rc == 0 && stream->avail_out > 0)
        rc = inflate(stream, Z_SYNC_FLUSH) == Z_OK ? 0 : -1;
    // What is left of the input is the flush's mark, which gives no output.
    unsigned char nothing;
    stream->next_out = &nothing;
    stream->avail_out = 1;
    if (rc == 0 && stream->avail_in > 0 && (inflate(stream, Z_SYNC_FLUSH) != Z_OK || stream->avail_out != 1))
        rc = -1;
    if (rc < 0)
        error_set(err, ERROR_INVALID, "the record of cycle %" PRId64 " cannot be unpacked", record->cycle);
    else
        buffer_append(out, plain, record->plain_bytes);
    free(plain);
    free(stored);
    return rc;
}
