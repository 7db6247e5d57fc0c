#include "api/workloads/frames.h"

void frame_write_head(char kind, size_t length, char out[FRAME_HEAD])
{
    out[0] = kind;
    for (int i = 0; i < 4; i++)
        out[1 + i] = (char)(length >> (24 - 8 * i) & 0xff);
}
