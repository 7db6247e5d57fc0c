// The journal's folder: segments named by the number of their first cycle, so that their names stand in order.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum {
    FOLDER_PATH_SIZE = 1024 // longer ones are refused
};

struct folder_size {
    int64_t bytes;
    int64_t segments;
};

void folder_path(const char *folder, int64_t first_cycle, char out_path[static FOLDER_PATH_SIZE]);
void folder_remove(const char *folder, int64_t first_cycle);
// First cycles of the segments, ascending; a folder that is not there is empty. The list is the arena's.
size_t folder_list(const char *folder, struct arena *arena, int64_t **out_first_cycles);
// Creates the folder where it is missing, and cuts off what the last segment has behind its last whole record.
int folder_prepare(const char *folder, int64_t *out_last_cycle, struct error *err);
// Removes segments, oldest first, whose cycles are all older than that (INT64_MIN: whatever their age), or while there
// are more bytes; the last stays.
void folder_trim(const char *folder, int64_t before_ms, int64_t bound_bytes, struct folder_size *out_size);
