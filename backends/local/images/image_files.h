// Images that are kept as files, for apptainer: what they take of the disk, and which of them go.
#pragma once
#include <stdint.h>

// What the files in this folder take of the disk.
int64_t image_files_bytes(const char *folder);
// Notes that a pod is about to use it.
void image_files_use(const char *path);
// Removes images until the others take no more than this; 0: any amount. Those that were used the longest ago go first,
// and none that was used within the hour. A pod that runs keeps the file that it has open. They are pulled again.
void image_files_trim(const char *folder, int64_t bytes_max);
