// Records of the pod's state, and word to the server that there is a new one.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct sockaddr_un;

int64_t state_now_ms(void);
// Appends one record; false where the disk refused it.
bool state_write(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Tells the server, if one listens.
void state_wake(const char *uuid);
// The start time of a process in clock ticks since boot, from /proc; 0 where it cannot be read.
unsigned long long state_start_time(int pid);
