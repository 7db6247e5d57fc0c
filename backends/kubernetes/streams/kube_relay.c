#include "backends/kubernetes/streams/kube_relay.h"

#include "base/error.h"
#include "base/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TICK_MS = 500,
    PING_US = 5 * 1000000,
    SILENCE_US = 30 * 1000000,      // in which a pong would have come
    BLOCKED_US = 15 * 60 * 1000000, // in which a command would have read its input
    STAGE_HIGH = 64 * 1024,         // waiting in front of a descriptor that does not take it
    VERSION_WITH_CLOSE = 5
};

void kube_relay_init(struct kube_relay *relay)
{
    *relay = (struct kube_relay){.input_fd = -1, .output_fd = -1, .error_fd = -1, .control_fd = -1};
    relay->socket.fd = -1;
    kube_frames_init(&relay->frames);
    buffer_init(&relay->to_server.bytes, 0);
    buffer_init(&relay->to_output.bytes, 0);
    buffer_init(&relay->to_errors.bytes, 0);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void kube_relay_done(struct kube_relay *relay)
{
    close_fd(&relay->input_fd);
    close_fd(&relay->output_fd);
    close_fd(&relay->error_fd);
    close_fd(&relay->control_fd);
    kube_socket_done(&relay->socket);
    kube_frames_done(&relay->frames);
    buffer_done(&relay->to_server.bytes);
    buffer_done(&relay->to_output.bytes);
    buffer_done(&relay->to_errors.bytes);
}

static size_t waiting(const struct kube_stage *stage)
{
    return stage->bytes.length - stage->sent;
}

static void pass(struct kube_stage *stage, size_t length)
{
    stage->sent += length;
    if (stage->sent == stage->bytes.length) {
        buffer_clear(&stage->bytes);
        stage->sent = 0;
    }
}

static void send_frame(struct kube_relay *relay, enum kube_frame kind, const char *first, size_t first_length,
                       const char *data, size_t length)
{
    uint32_t mask = 0;
    (void)!getrandom(&mask, sizeof(mask), 0);
    kube_frame_write(&relay->to_server.bytes, kind, mask, first, first_length, data, length);
}

static void send_channel(struct kube_relay *relay, enum kube_channel channel, const char *data, size_t length)
{
    char first = (char)channel;
    send_frame(relay, KUBE_FRAME_BINARY, &first, 1, data, length);
}

static void take_port_message(struct kube_relay *relay, const char *data, size_t length)
{
    unsigned char channel = (unsigned char)data[0];
    if (channel > KUBE_PORT_CHANNEL_ERROR || length == 1)
        return;
    if (!relay->has_begun[channel])
        relay->has_begun[channel] = true;
    else if (channel == KUBE_PORT_CHANNEL_DATA)
        buffer_append(&relay->to_output.bytes, data + 1, length - 1);
    else
        snprintf(relay->end, sizeof(relay->end), "%d %.*s", KUBE_BROKEN_OFF, (int)(length - 1 < 120 ? length - 1 : 120),
                 data + 1);
}

static int take_message(void *context, enum kube_frame kind, const char *data, size_t length, struct error *err)
{
    struct kube_relay *relay = context;
    (void)err;
    if (kind == KUBE_FRAME_PING)
        send_frame(relay, KUBE_FRAME_PONG, "", 0, data, length);
    if (kind == KUBE_FRAME_CLOSE)
        relay->is_closed = true;
    if ((kind != KUBE_FRAME_BINARY && kind != KUBE_FRAME_TEXT) || length == 0)
        return 0;
    if (relay->is_port) {
        take_port_message(relay, data, length);
        return 0;
    }
    switch ((unsigned char)data[0]) {
    case KUBE_CHANNEL_OUTPUT:
        buffer_append(&relay->to_output.bytes, data + 1, length - 1);
        break;
    case KUBE_CHANNEL_ERRORS:
        buffer_append(&(relay->has_terminal ? &relay->to_output : &relay->to_errors)->bytes, data + 1, length - 1);
        break;
    case KUBE_CHANNEL_END:
        if (length > 1) // each channel begins with an empty message
            kube_channel_read_end(data + 1, length - 1, relay->end);
        break;
    default: // what other channels say is nothing to a caller
        break;
    }
    return 0;
}

static void feed(struct kube_relay *relay, const char *data, size_t length)
{
    struct error err = {0};
    relay->heard_us = timestamp_monotonic_us();
    if (kube_frames_feed(&relay->frames, data, length, take_message, relay, &err) == 0)
        return;
    relay->is_closed = true;
    if (!*relay->end)
        snprintf(relay->end, sizeof(relay->end), "%d %.120s", KUBE_BROKEN_OFF, err.message);
}

static bool can_take(const struct kube_relay *relay)
{
    return waiting(&relay->to_output) < STAGE_HIGH && waiting(&relay->to_errors) < STAGE_HIGH && !relay->is_closed;
}

static void receive(struct kube_relay *relay)
{
    while (can_take(relay) && !*relay->end) {
        ssize_t got = kube_socket_read(&relay->socket, relay->scratch, sizeof(relay->scratch));
        if (got < 0)
            relay->is_closed = true;
        if (got <= 0)
            return;
        feed(relay, relay->scratch, (size_t)got);
    }
}

static void send_waiting(struct kube_relay *relay)
{
    while (waiting(&relay->to_server) > 0 && !relay->is_closed) {
        ssize_t sent = kube_socket_write(&relay->socket, relay->to_server.bytes.data + relay->to_server.sent,
                                         waiting(&relay->to_server));
        if (sent < 0)
            relay->is_closed = true;
        if (sent <= 0)
            return;
        pass(&relay->to_server, (size_t)sent);
    }
}

// Who does not read any more needs nothing: what is for him is thrown away.
static void flush(struct kube_stage *stage, int *fd)
{
    while (waiting(stage) > 0 && *fd >= 0) {
        ssize_t written = write(*fd, stage->bytes.data + stage->sent, waiting(stage));
        if (written > 0)
            pass(stage, (size_t)written);
        else if (errno == EAGAIN || errno == EINTR)
            return;
        else
            close_fd(fd);
    }
    if (*fd < 0)
        pass(stage, waiting(stage));
}

static void end_input(struct kube_relay *relay)
{
    char which = KUBE_CHANNEL_INPUT;
    close_fd(&relay->input_fd);
    if (relay->socket.version >= VERSION_WITH_CLOSE && !relay->has_terminal)
        send_channel(relay, KUBE_CHANNEL_CLOSE, &which, 1);
}

static void read_input(struct kube_relay *relay)
{
    ssize_t got = read(relay->input_fd, relay->scratch, sizeof(relay->scratch));
    if (got > 0) {
        send_channel(relay, KUBE_CHANNEL_INPUT, relay->scratch, (size_t)got);
        relay->input_us = timestamp_monotonic_us();
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        end_input(relay);
    }
}

static void tell_size(struct kube_relay *relay)
{
    struct winsize size;
    char text[64];
    if (!relay->has_terminal || relay->input_fd < 0 || ioctl(relay->input_fd, TIOCGWINSZ, &size) < 0 ||
        (size.ws_row == relay->rows && size.ws_col == relay->columns))
        return;
    relay->rows = size.ws_row;
    relay->columns = size.ws_col;
    int length = snprintf(text, sizeof(text), "{\"Width\":%u,\"Height\":%u}", size.ws_col, size.ws_row);
    send_channel(relay, KUBE_CHANNEL_SIZE, text, (size_t)length);
}

bool kube_relay_is_lost(int64_t now_us, int64_t heard_us, int64_t input_us)
{
    return now_us - heard_us > (input_us >= heard_us ? BLOCKED_US : SILENCE_US);
}

static void keep_alive(struct kube_relay *relay)
{
    int64_t now_us = timestamp_monotonic_us();
    if (now_us - relay->pinged_us > PING_US) {
        relay->pinged_us = now_us;
        send_frame(relay, KUBE_FRAME_PING, "", 0, "", 0);
    }
    // While nobody takes what came, what would come is not read.
    if (!can_take(relay))
        relay->heard_us = now_us;
    if (kube_relay_is_lost(now_us, relay->heard_us, relay->input_us))
        relay->is_closed = true;
}

static bool has_hung_up(const struct kube_relay *relay)
{
    char byte;
    ssize_t got = recv(relay->control_fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

// One turn of waiting for whatever can go on. False: it is over.
static bool turn(struct kube_relay *relay)
{
    bool is_ending = *relay->end || relay->is_closed;
    bool has_rest = waiting(&relay->to_output) > 0 || waiting(&relay->to_errors) > 0;
    if (is_ending && !has_rest)
        return false;
    bool reads = can_take(relay), writes = waiting(&relay->to_server) > 0;
    struct pollfd fds[] = {
        {.fd = !is_ending && (reads || writes) ? relay->socket.fd : -1,
         .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))},
        {.fd = waiting(&relay->to_server) < STAGE_HIGH && !is_ending ? relay->input_fd : -1, .events = POLLIN},
        {.fd = waiting(&relay->to_output) > 0 ? relay->output_fd : -1, .events = POLLOUT},
        {.fd = waiting(&relay->to_errors) > 0 ? relay->error_fd : -1, .events = POLLOUT},
        {.fd = relay->is_port ? relay->output_fd : relay->control_fd, .events = relay->is_port ? 0 : POLLIN},
    };
    if (poll(fds, sizeof(fds) / sizeof(fds[0]), TICK_MS) < 0)
        return true;
    if (fds[4].revents && (relay->is_port || has_hung_up(relay)))
        return false;
    tell_size(relay); // before the keys that were struck at that size
    if (fds[1].revents)
        read_input(relay);
    flush(&relay->to_output, &relay->output_fd);
    flush(&relay->to_errors, &relay->error_fd);
    receive(relay); // whatever poll says: what TLS has decoded already wakes nobody
    flush(&relay->to_output, &relay->output_fd);
    flush(&relay->to_errors, &relay->error_fd);
    keep_alive(relay);
    send_waiting(relay);
    return true;
}

void kube_relay_run(struct kube_relay *relay, const atomic_bool *stopping)
{
    relay->heard_us = relay->pinged_us = timestamp_monotonic_us();
    if (relay->socket.early.length)
        feed(relay, relay->socket.early.data, relay->socket.early.length);
    tell_size(relay);
    send_waiting(relay);
    receive(relay);
    flush(&relay->to_output, &relay->output_fd);
    flush(&relay->to_errors, &relay->error_fd);
    while (!atomic_load(stopping) && turn(relay))
        ;
    if (!*relay->end)
        snprintf(relay->end, sizeof(relay->end), "%d the connection to the cluster broke off", KUBE_BROKEN_OFF);
    (void)!send(relay->control_fd, relay->end, strlen(relay->end), MSG_NOSIGNAL);
    if (!relay->is_closed) {
        send_frame(relay, KUBE_FRAME_CLOSE, "", 0, "\x03\xe8", 2); // 1000: nothing is wrong
        send_waiting(relay);
    }
}
