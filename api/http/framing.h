// What civetweb lets through and a server must not: requests whose end two readers could see in different places,
// headers that were dropped in silence, headers twice. Called first; every refusal closes the connection.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;
struct mg_request_info;

struct framing {
    bool has_body; // Content-Length above 0, or chunked
    bool is_chunked;
    int64_t length; // of the body; -1 when chunked
    bool expects_continue;
    bool keeps_alive; // the client would go on with this connection
};

int request_framing_check(const struct mg_request_info *info, int64_t body_max_bytes, struct framing *out_framing,
                          struct error *err);

// The same for the header block as it lies in civetweb's buffer: a blank before the colon, a folded line, a line that
// ends in a bare line feed. The parsed form has lost these; civetweb puts NULs where the colon and the line's end were,
// and they are looked for there. Only for the info of a live connection.
int request_header_lines_check(const struct mg_request_info *info, struct error *err);
