// The files of a pod's log (supervisor/pod_folder.h): listed, measured, and the oldest of them removed. What was
// removed is noted beside them, so that the log can say so.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_FILES_MAX = 256 // a log is cut into some 32
};

// Which bound a log was cut for.
enum log_bound {
    LOG_BOUND_POD, // by its supervisor
    LOG_BOUND_PROJECT,
    LOG_BOUND_TOTAL,
    LOG_BOUND_COUNT
};

struct log_files {
    int folder_fd; // -1: there is no log
    size_t count;
    int64_t starts[LOG_FILES_MAX]; // ascending
};

struct log_cut {
    enum log_bound bound;
    int64_t bytes;    // the bound's
    int64_t position; // of the first byte that was kept
};

struct log_size {
    int64_t bytes; // of the disk, folders included
    size_t file_count;
    int64_t written_ms; // the last output; 0: there is none
};

// False: there is no log. To be closed in either case.
bool log_files_open(int pod_folder_fd, struct log_files *out);
void log_files_close(struct log_files *files);
void log_files_name(int64_t start, char name[32]);

void log_files_measure(int pod_folder_fd, struct log_size *out);
// What was noted last; false: nothing.
bool log_files_read_cut(int pod_folder_fd, struct log_cut *out);
// Removes the oldest file, unless it is the newest too. False: nothing was removed.
bool log_files_cut_oldest(int pod_folder_fd, enum log_bound bound, int64_t bound_bytes);
// Removes the whole log of a pod that is over; false: there was nothing to remove. With bound_bytes 0 nothing is noted,
// and the note goes too.
bool log_files_remove(int pod_folder_fd, enum log_bound bound, int64_t bound_bytes);
