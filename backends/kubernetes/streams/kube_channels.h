// Channels of Kubernetes' remote commands and ports: the first byte of each message. And what the message of the end
// says.
#pragma once
#include <stddef.h>

enum kube_channel {
    KUBE_CHANNEL_INPUT = 0,
    KUBE_CHANNEL_OUTPUT = 1,
    KUBE_CHANNEL_ERRORS = 2,
    KUBE_CHANNEL_END = 3,
    KUBE_CHANNEL_SIZE = 4,
    KUBE_CHANNEL_CLOSE = 255 // the byte after it says which; version 5
};

// Those of a port, which begin with its number in two bytes, the low one first, as a message of its own.
enum kube_port_channel {
    KUBE_PORT_CHANNEL_DATA = 0, // both ways
    KUBE_PORT_CHANNEL_ERROR = 1 // why it ends
};

enum {
    KUBE_NO_SUCH_COMMAND = 127,
    KUBE_BROKEN_OFF = 255, // nobody knows how the command ended
    KUBE_END_SIZE = 160
};

// A Status as `STATUS TEXT`, which backend_session.control_fd brings: the command's exit status, or 127 and why it did
// not start. Returns out.
const char *kube_channel_read_end(const char *data, size_t length, char out[KUBE_END_SIZE]);
