// WebSockets as a client has them: frames, the upgrade, and what the end of a command says.
#include "backends/kubernetes/streams/kube_channels.h"
#include "backends/kubernetes/streams/kube_frames.h"
#include "backends/kubernetes/streams/kube_relay.h"
#include "backends/kubernetes/streams/kube_upgrade.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

static int note(void *context, enum kube_frame kind, const char *data, size_t length, struct error *err)
{
    (void)err;
    buffer_printf(context, "%d:%.*s;", (int)kind, (int)length, data);
    return 0;
}

struct frame_case {
    const char *what, *bytes;
    size_t length;
    const char *want, *want_message;
};

#define BYTES(text) text, sizeof(text) - 1
#define BROKEN "the cluster does not keep to WebSocket: "

static const struct frame_case FRAMES[] = {
    {"a text", BYTES("\x81\x02hi"), "1:hi;", ""},
    {"nothing in it", BYTES("\x82\x00"), "2:;", ""},
    {"two in a row",
     BYTES("\x82\x01"
           "a\x82\x01"
           "b"),
     "2:a;2:b;", ""},
    {"fragments",
     BYTES("\x02\x01"
           "a\x00\x01"
           "b\x80\x01"
           "c"),
     "2:abc;", ""},
    {"a ping between them",
     BYTES("\x02\x01"
           "a\x89\x01p\x80\x01"
           "b"),
     "9:p;2:ab;", ""},
    {"a length of 16 bits",
     BYTES("\x82\x7e\x00\x03"
           "abc"),
     "2:abc;", ""},
    {"a length of 64 bits",
     BYTES("\x82\x7f\x00\x00\x00\x00\x00\x00\x00\x03"
           "abc"),
     "2:abc;", ""},
    {"a close", BYTES("\x88\x02\x03\xe8"), "8:\x03\xe8;", ""},
    {"half of one",
     BYTES("\x82\x05"
           "ab"),
     "", ""},
    {"a mask", BYTES("\x82\x81"), "", BROKEN "a server's frame is masked"},
    {"reserved bits", BYTES("\xc2\x01"), "", BROKEN "bits that mean nothing"},
    {"an unknown kind", BYTES("\x83\x01"), "", BROKEN "a frame of an unknown kind"},
    {"a fragment of nothing", BYTES("\x80\x01"), "", BROKEN "a fragment of no message"},
    {"a message in a message",
     BYTES("\x02\x01"
           "a\x82\x01"),
     "", BROKEN "a message inside another"},
    {"a control frame in parts", BYTES("\x09\x01"), "", BROKEN "a control frame that is cut or long"},
    {"a long control frame", BYTES("\x89\x7e\x00\x7e"), "", BROKEN "a control frame that is cut or long"},
    {"beyond the bound", BYTES("\x82\x7f\x00\x00\x00\x00\x00\x10\x00\x01"), "", BROKEN "a message that is too long"},
    {"far beyond it", BYTES("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), "", BROKEN "a message that is too long"},
};

static void test_frames(void)
{
    for (size_t i = 0; i < COUNT(FRAMES); i++)
        for (size_t piece = 1; piece < 20; piece += 3) {
            const struct frame_case *row = &FRAMES[i];
            struct kube_frames frames;
            struct buffer told;
            struct error err = {0};
            int rc = 0;
            buffer_init(&told, 0);
            kube_frames_init(&frames);
            for (size_t at = 0; at < row->length && rc == 0; at += piece)
                rc = kube_frames_feed(&frames, row->bytes + at, row->length - at < piece ? row->length - at : piece,
                                      note, &told, &err);
            check_text(told.data ? told.data : "", row->want, "%s", row->what);
            check_text(err.message, row->want_message, "%s", row->what);
            kube_frames_done(&frames);
            buffer_done(&told);
        }
}

// Lengths where the head changes: what is written, without its mask, is what a server would read.
static void test_writing(void)
{
    static const size_t LENGTHS[] = {0, 1, 124, 125, 126, 65534, 65535, 65536};
    for (size_t i = 0; i < COUNT(LENGTHS); i++) {
        struct buffer out;
        size_t length = LENGTHS[i], head = length + 1 < 126 ? 2 : length + 1 < 65536 ? 4 : 10;
        char *data = calloc(1, length + 1);
        memset(data, 'd', length);
        buffer_init(&out, 0);
        kube_frame_write(&out, KUBE_FRAME_BINARY, 0x01020304, "c", 1, data, length);
        check_int((int64_t)out.length, (int64_t)(head + 4 + 1 + length), "%zu bytes", length);
        check_int((unsigned char)out.data[0], 0x82, "binary, and the last");
        check_true((unsigned char)out.data[1] & 0x80, "masked");
        check_int(out.data[head + 4] ^ out.data[head], 'c', "what stands in front");
        if (length)
            check_int(out.data[out.length - 1] ^ out.data[head + length % 4], 'd', "the last byte");
        buffer_done(&out);
        free(data);
    }
}

struct upgrade_case {
    const char *what, *answer;
    bool is_over;
    enum kube_upgrade_outcome want;
    int code, version;
    const char *message;
};

// The key of RFC 6455's example, and its proof.
#define SWITCH "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
#define PROOF "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

static const struct upgrade_case UPGRADES[] = {
    {"nothing yet", "HTTP/1.1 101", false, KUBE_UPGRADE_WAITS, 0, 0, ""},
    {"version 5", SWITCH PROOF "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n", false, KUBE_UPGRADED, 0, 5, ""},
    {"version 4", SWITCH PROOF "sec-websocket-protocol:v4.channel.k8s.io\r\n\r\n\x82", false, KUBE_UPGRADED, 0, 4, ""},
    {"no protocol", SWITCH PROOF "\r\n", false, KUBE_UPGRADE_REFUSED, 101, 0,
     "the answer is no WebSocket: another protocol"},
    {"another key", SWITCH "Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n", false,
     KUBE_UPGRADE_REFUSED, 101, 0, "the answer is no WebSocket: another key"},
    {"another upgrade", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\n\r\n", false, KUBE_UPGRADE_REFUSED,
     101, 0, "the answer is no WebSocket: another upgrade"},
    {"nothing in a refusal", "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", false, KUBE_UPGRADE_REFUSED, 403, 0,
     ""},
    {"a Status", "HTTP/1.1 404 Not Found\r\nContent-Length: 31\r\n\r\n{\"code\":404,\"message\":\"no pod\"}", false,
     KUBE_UPGRADE_REFUSED, 404, 0, "no pod"},
    {"half of it", "HTTP/1.1 404 Not Found\r\nContent-Length: 31\r\n\r\n{\"code\":404", false, KUBE_UPGRADE_WAITS, 0, 0,
     ""},
    {"in a chunk", "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n{\"message\":\"m\"}\r\n0\r\n\r\n", false,
     KUBE_UPGRADE_REFUSED, 500, 0, "m"},
    {"half of it, and the end", "HTTP/1.1 404 Not Found\r\nContent-Length: 31\r\n\r\n", true, KUBE_UPGRADE_REFUSED, 404,
     0, ""},
    {"no HTTP", "hello\r\n\r\n", false, KUBE_UPGRADE_REFUSED, 101, 0, "the answer is no WebSocket: no HTTP"},
    {"nothing at all", "", true, KUBE_UPGRADE_REFUSED, 101, 0, "the answer is no WebSocket: no head"},
};

static void test_upgrades(void)
{
    for (size_t i = 0; i < COUNT(UPGRADES); i++) {
        const struct upgrade_case *row = &UPGRADES[i];
        struct kube_upgrade upgrade = {.key = "dGhlIHNhbXBsZSBub25jZQ=="};
        struct kube_status status;
        size_t used = 0;
        check_int(kube_upgrade_read(&upgrade, row->answer, strlen(row->answer), row->is_over, &used, &status),
                  row->want, "%s", row->what);
        check_int(status.code, row->code, "%s: code", row->what);
        check_int(upgrade.version, row->version, "%s: version", row->what);
        check_text(status.message, row->message, "%s: message", row->what);
        if (row->want == KUBE_UPGRADED)
            check_int(row->answer[used] == '\0' || row->answer[used] == '\x82', 1, "%s: frames follow", row->what);
    }
    struct kube_upgrade upgrade;
    struct buffer out;
    kube_upgrade_init(&upgrade, (const unsigned char *)"the sample nonce");
    check_text(upgrade.key, "dGhlIHNhbXBsZSBub25jZQ==", "the example's key");
    buffer_init(&out, 0);
    kube_upgrade_write(&upgrade, "/p?q=1", "h:1", (const char *const[]){"Authorization: Bearer t", NULL}, &out);
    check_text(out.data,
               "GET /p?q=1 HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer t\r\nConnection: Upgrade\r\nUpgrade: "
               "websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
               "Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io\r\n\r\n",
               "the request");
    buffer_done(&out);
}

// what the channel says, what the caller is told
static const char *const ENDS[][2] = {
    {"{\"metadata\":{},\"status\":\"Success\"}", "0 "},
    {"{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\","
     "\"message\":\"7\"}]}}",
     "7 "},
    {"{\"status\":\"Failure\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"x\"}]}}", "255 "},
    {"{\"status\":\"Failure\",\"message\":\"not\\nfound\",\"reason\":\"InternalError\"}", "127 not found"},
    {"{}", "127 "},
    {"[]", "255 the cluster does not say how it ended"},
    {"", "255 the cluster does not say how it ended"},
};

static void test_ends(void)
{
    for (size_t i = 0; i < COUNT(ENDS); i++) {
        char end[KUBE_END_SIZE];
        check_text(kube_channel_read_end(ENDS[i][0], strlen(ENDS[i][0]), end), ENDS[i][1], "%s", ENDS[i][0]);
    }
}

// A command that sleeps and then reads its input keeps its session.
static void test_silence(void)
{
    enum {
        S = 1000000
    };
    check_true(!kube_relay_is_lost(100 * S, 71 * S, 0), "pongs come in time");
    check_true(kube_relay_is_lost(100 * S, 69 * S, 0), "no pong came");
    check_true(kube_relay_is_lost(100 * S, 69 * S, 68 * S), "no pong came, and no input was sent since");
    check_true(!kube_relay_is_lost(800 * S, 69 * S, 70 * S), "a pong may wait behind input");
    check_true(kube_relay_is_lost(1000 * S, 69 * S, 70 * S), "not for ever");
}

int main(void)
{
    test_frames();
    test_writing();
    test_upgrades();
    test_ends();
    test_silence();
    return check_finish();
}
