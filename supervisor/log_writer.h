// The output of a command as lines with times, in files of a bounded size; the oldest go when all together are too
// large.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_writer {
    int pod_folder_fd;
    int folder_fd;      // -1: nothing was printed yet
    int fd;             // of the newest file; -1: none
    int64_t position;   // of the next byte
    int64_t file_start; // of the newest file
    int64_t file_max, total_max;
    int64_t reserve;    // of the disk, in bytes, that is not ours
    bool in_line;       // the last line written is a part
    bool is_low;        // the disk is down to its reserve, and the log says so
    int64_t lost_bytes; // of output that is not kept, not yet told in the log
};

// The first output creates folder and file: many commands print nothing.
void log_writer_init(struct log_writer *log, int pod_folder_fd, int64_t file_max, int64_t total_max, int64_t reserve);
void log_writer_add(struct log_writer *log, const char *text, size_t length);
