// Carries bytes between the ends of a session, or of a connection to a port, and its WebSocket, until the command ends
// or somebody hangs up.
#pragma once
#include "backends/kubernetes/streams/kube_channels.h"
#include "backends/kubernetes/streams/kube_frames.h"
#include "backends/kubernetes/streams/kube_socket.h"

#include <stdatomic.h>

// Bytes on their way into a descriptor.
struct kube_stage {
    struct buffer bytes;
    size_t sent;
};

struct kube_relay {
    int input_fd, output_fd, error_fd, control_fd; // ours; -1: none, or closed
    bool has_terminal;
    bool is_port;      // to one of the pod: input and output are two descriptors of one socket, and there are no others
    bool has_begun[2]; // of a port's channels: its number came
    struct kube_socket socket;
    struct kube_frames frames;
    struct kube_stage to_server, to_output, to_errors;
    unsigned short rows, columns; // that the pod was told
    int64_t heard_us, pinged_us;
    int64_t input_us;        // when input was sent last; 0: never
    char end[KUBE_END_SIZE]; // "": it has not ended
    bool is_closed;          // by the server
    char scratch[16 * 1024];
};

// Whether a connection is taken for lost, by when something was heard last. Pongs wait behind input that the command
// does not read, so that a server which was sent some since has much longer.
bool kube_relay_is_lost(int64_t now_us, int64_t heard_us, int64_t input_us);

// With no descriptors and no socket, for the owner to set.
void kube_relay_init(struct kube_relay *relay);
void kube_relay_done(struct kube_relay *relay);
// Returns when it is over, and has told the caller by control_fd how it ended. Within half a second of *stopping.
void kube_relay_run(struct kube_relay *relay, const atomic_bool *stopping);
