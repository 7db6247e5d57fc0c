// Framing: requests whose end, host or caller could be read in two ways.
#include "api/http/framing.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <civetweb.h>
#include <string.h>

enum {
    HEADER_MAX = 4
};

struct framing_case {
    const char *name;
    const char *version;
    const char *headers[HEADER_MAX][2];
    int64_t want_length; // -1: chunked
    bool want_keep;
    const char *message;
};

static const struct framing_case CASES[] = {
    {"no body", "1.1", {{"Host", "a"}}, 0, true, ""},
    {"a body", "1.1", {{"Host", "a"}, {"Content-Length", "5"}}, 5, true, ""},
    {"letters of any case", "1.1", {{"hOST", "a"}, {"content-LENGTH", "5"}}, 5, true, ""},
    {"a body of nothing", "1.1", {{"Host", "a"}, {"Content-Length", "0"}}, 0, true, ""},
    {"zeros in front", "1.1", {{"Host", "a"}, {"Content-Length", "0005"}}, 5, true, ""},
    {"the largest body", "1.1", {{"Host", "a"}, {"Content-Length", "1000"}}, 1000, true, ""},
    {"chunked", "1.1", {{"Host", "a"}, {"Transfer-Encoding", "Chunked"}}, -1, true, ""},
    {"close", "1.1", {{"Host", "a"}, {"Connection", "close"}}, 0, false, ""},
    {"close among others", "1.1", {{"Host", "a"}, {"Connection", "keep-alive, Close"}}, 0, false, ""},
    {"upgrade is not followed", "1.1", {{"Host", "a"}, {"Connection", "Upgrade"}}, 0, false, ""},
    {"a word that only begins so", "1.1", {{"Host", "a"}, {"Connection", "closed"}}, 0, true, ""},
    {"1.0 without Host", "1.0", {{"X", "a"}}, 0, false, ""},
    {"1.0 closes", "1.0", {{"Host", "a"}, {"Connection", "keep-alive"}}, 0, false, ""},
    {"a host with a port", "1.1", {{"Host", "localhost:8080"}}, 0, true, ""},
    {"a host in brackets", "1.1", {{"Host", "[::1]:80"}}, 0, true, ""},
    {"two equal cookies are no harm", "1.1", {{"Host", "a"}, {"Cookie", "a"}, {"Cookie", "b"}}, 0, true, ""},

    {"no Host", "1.1", {{"X", "a"}}, 0, false, "Host: required"},
    {"an empty Host", "1.1", {{"Host", ""}}, 0, false, "Host: not a host name"},
    {"two Hosts", "1.1", {{"Host", "a"}, {"host", "a"}}, 0, false, "Host: given twice"},
    {"a Host with a path", "1.1", {{"Host", "a/b"}}, 0, false, "Host: not a host name"},
    {"a Host with a user", "1.1", {{"Host", "a@b"}}, 0, false, "Host: not a host name"},
    {"a Host with a blank", "1.1", {{"Host", "a b"}}, 0, false, "Host: not a host name"},
    {"a list of Hosts", "1.1", {{"Host", "a,b"}}, 0, false, "Host: not a host name"},
    {"both lengths",
     "1.1",
     {{"Host", "a"}, {"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}},
     0,
     false,
     "Content-Length and Transfer-Encoding: one of them"},
    {"both, the other way round",
     "1.1",
     {{"Host", "a"}, {"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}},
     0,
     false,
     "Content-Length and Transfer-Encoding: one of them"},
    {"two Content-Lengths",
     "1.1",
     {{"Host", "a"}, {"Content-Length", "5"}, {"Content-Length", "6"}},
     0,
     false,
     "Content-Length: given twice"},
    {"two equal Content-Lengths",
     "1.1",
     {{"Host", "a"}, {"Content-Length", "5"}, {"Content-Length", "5"}},
     0,
     false,
     "Content-Length: given twice"},
    {"a list of lengths",
     "1.1",
     {{"Host", "a"}, {"Content-Length", "5, 9"}},
     0,
     false,
     "Content-Length: expected digits"},
    {"a plus", "1.1", {{"Host", "a"}, {"Content-Length", "+5"}}, 0, false, "Content-Length: expected digits"},
    {"a minus", "1.1", {{"Host", "a"}, {"Content-Length", "-5"}}, 0, false, "Content-Length: expected digits"},
    {"letters behind", "1.1", {{"Host", "a"}, {"Content-Length", "5xyz"}}, 0, false, "Content-Length: expected digits"},
    {"a hexadecimal", "1.1", {{"Host", "a"}, {"Content-Length", "0x5"}}, 0, false, "Content-Length: expected digits"},
    {"a blank behind", "1.1", {{"Host", "a"}, {"Content-Length", "5 "}}, 0, false, "Content-Length: expected digits"},
    {"a fraction", "1.1", {{"Host", "a"}, {"Content-Length", "5.0"}}, 0, false, "Content-Length: expected digits"},
    {"no digits",
     "1.1",
     {{"Host", "a"}, {"Content-Length", ""}},
     0,
     false,
     "Content-Length: expected a number of bytes"},
    {"a length that overflows",
     "1.1",
     {{"Host", "a"}, {"Content-Length", "18446744073709551621"}},
     0,
     false,
     "Content-Length: expected a number of bytes"},
    {"one byte too many",
     "1.1",
     {{"Host", "a"}, {"Content-Length", "1001"}},
     0,
     false,
     "body: at most 1000 bytes, got 1001"},
    {"two Transfer-Encodings",
     "1.1",
     {{"Host", "a"}, {"Transfer-Encoding", "identity"}, {"Transfer-Encoding", "chunked"}},
     0,
     false,
     "Transfer-Encoding: given twice"},
    {"a list of codings",
     "1.1",
     {{"Host", "a"}, {"Transfer-Encoding", "gzip, chunked"}},
     0,
     false,
     "Transfer-Encoding: chunked, or nothing"},
    {"identity",
     "1.1",
     {{"Host", "a"}, {"Transfer-Encoding", "identity"}},
     0,
     false,
     "Transfer-Encoding: chunked, or nothing"},
    {"a disguised coding",
     "1.1",
     {{"Host", "a"}, {"Transfer-Encoding", "xchunked"}},
     0,
     false,
     "Transfer-Encoding: chunked, or nothing"},
    {"chunked in 1.0",
     "1.0",
     {{"Host", "a"}, {"Transfer-Encoding", "chunked"}},
     0,
     false,
     "Transfer-Encoding: chunked, or nothing"},
    {"two Authorizations",
     "1.1",
     {{"Host", "a"}, {"Authorization", "Bearer a"}, {"Authorization", "Bearer b"}},
     0,
     false,
     "Authorization: given twice"},
    {"two Content-Types",
     "1.1",
     {{"Host", "a"}, {"Content-Type", "a/b"}, {"content-type", "a/c"}},
     0,
     false,
     "Content-Type: given twice"},
    {"a name with a blank",
     "1.1",
     {{"Host", "a"}, {"Content Length", "5"}},
     0,
     false,
     "headers: a name with a character that may not be there"},
    {"an empty name",
     "1.1",
     {{"Host", "a"}, {"", "5"}},
     0,
     false,
     "headers: a name with a character that may not be there"},
    {"a name beyond ASCII",
     "1.1",
     {{"Host", "a"}, {"X\xc3\xa9", "5"}},
     0,
     false,
     "headers: a name with a character that may not be there"},
    {"a control character in a value",
     "1.1",
     {{"Host", "a"}, {"X", "a\x01"}},
     0,
     false,
     "headers: a control character"},
};

static void test_framing(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct mg_request_info info = {.http_version = CASES[i].version};
        struct framing framing = {.length = 77};
        struct error err = {0};
        for (int k = 0; k < HEADER_MAX && CASES[i].headers[k][0]; k++)
            info.http_headers[info.num_headers++] = (struct mg_header){CASES[i].headers[k][0], CASES[i].headers[k][1]};
        int rc = request_framing_check(&info, 1000, &framing, &err);
        check_int(rc, CASES[i].message[0] ? -1 : 0, "%s", CASES[i].name);
        check_text(err.message, CASES[i].message, "%s", CASES[i].name);
        check_int(framing.length, rc < 0 ? 77 : CASES[i].want_length, "%s: length", CASES[i].name);
        check_int(framing.keeps_alive, rc < 0 ? 0 : CASES[i].want_keep, "%s: keep-alive", CASES[i].name);
        check_int(framing.is_chunked, rc == 0 && CASES[i].want_length < 0, "%s: chunked", CASES[i].name);
    }
}

static void test_header_count(void)
{
    for (int count = MG_MAX_HEADERS - 1; count <= MG_MAX_HEADERS; count++) {
        struct mg_request_info info = {.http_version = "1.1", .num_headers = count};
        struct framing framing;
        struct error err = {0};
        info.http_headers[0] = (struct mg_header){"Host", "a"};
        for (int k = 1; k < count; k++)
            info.http_headers[k] = (struct mg_header){"X", "y"};
        check_int(request_framing_check(&info, 1000, &framing, &err), count < MG_MAX_HEADERS ? 0 : -1, "%d headers",
                  count);
        check_int(err.code, count < MG_MAX_HEADERS ? ERROR_NONE : ERROR_HEADERS_TOO_LARGE, "%d headers", count);
    }
}

// As civetweb leaves it in its buffer, `|` standing for NUL.
static const struct {
    const char *name, *block;
    const char *names[2], *values[2];
    bool is_good;
} BLOCKS[] = {
    {"one line", "Host| a||\r|", {"Host"}, {"a"}, true},
    {"two lines", "Host| a||X|b||\r|", {"Host", "X"}, {"a", "b"}, true},
    {"a blank before the colon", "Host|| a||\r|", {"Host"}, {"a"}, false},
    {"a folded line at the end", "Host| a|| folded\r\n\r|", {"Host"}, {"a"}, false},
    {"a bare line feed between", "Host| a|X|b||\r|", {"Host", "X"}, {"a", "b"}, false},
    {"bare line feeds", "Host| a|||", {"Host"}, {"a"}, false},
};

static void test_header_lines(void)
{
    for (size_t i = 0; i < COUNT(BLOCKS); i++) {
        char block[128] = {0};
        struct mg_request_info info = {0};
        struct error err = {0};
        const char *at = BLOCKS[i].block;
        for (int k = 0; k < 2 && BLOCKS[i].names[k]; k++) {
            at = strstr(at, BLOCKS[i].names[k]);
            const char *value = strstr(at + strlen(BLOCKS[i].names[k]), BLOCKS[i].values[k]);
            info.http_headers[info.num_headers++] =
                (struct mg_header){block + (at - BLOCKS[i].block), block + (value - BLOCKS[i].block)};
            at = value + strlen(BLOCKS[i].values[k]);
        }
        for (size_t n = 0; n < strlen(BLOCKS[i].block); n++)
            block[n] = BLOCKS[i].block[n] == '|' ? '\0' : BLOCKS[i].block[n];
        check_int(request_header_lines_check(&info, &err), BLOCKS[i].is_good ? 0 : -1, "%s", BLOCKS[i].name);
    }
}

int main(void)
{
    test_framing();
    test_header_count();
    test_header_lines();
    return check_finish();
}
