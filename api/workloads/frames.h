// Pieces of a stream: a byte of what it is, four of its length, the highest first, and the bytes. Of a command ('1'
// output, '2' errors) and of a log that is followed ('l' lines behind their place, 'n' another pod behind its place,
// '2' why it breaks off); of both 'x' the end as `STATUS TEXT`, and ' ' nothing, to be heard.
#pragma once
#include <stddef.h>

enum {
    FRAME_HEAD = 5,
    FRAME_HEARTBEAT_MS = 5000
};

void frame_write_head(char kind, size_t length, char out[FRAME_HEAD]);
