// The answer under construction. A handler fills it in by one of the calls below and returns 0; the server adds the
// headers that every answer has, and writes head and body at once. The buffer is given back after that.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;
struct json_writer;
struct request;

struct response {
    int status;               // the operation's success status, unless a handler sets another
    struct buffer *body;      // owned by the server; lists and metrics write here with base/json_writer.h
    const char *content_type; // static text or the request arena's
    struct buffer *headers;   // further header lines, each ended by \r\n: response_header()
    bool is_streaming;        // response_stream_begin was called: the head is out
    bool is_chunked;          // before that: a client of HTTP/1.1 is told whether the stream is whole
    struct request *request;
};

// Writes the value as the body and releases it, also when it returns -1 (it does not fail). Returns 0, so that a
// handler ends with it.
int response_json(struct response *res, json_t *stolen_value);
// Text of another type: "text/csv; charset=utf-8". Copies.
int response_text(struct response *res, const char *content_type, const char *text, size_t size);
// {"code":202,"message":"..."}: accepted, with no object to show.
int response_message(struct response *res, int status, const char *message);
// No body: 204.
int response_empty(struct response *res, int status);
// Adds a header line. Neither name nor value may hold a line break: asserted.
void response_header(struct response *res, const char *name, const char *value);

// An error body other than the usual: the status of err, then this value instead of {code, message, details}. For OAuth
// errors (RFC 6749, 5.2) and for policy refusals with complianceIssues. Returns 0.
int response_error_json(struct response *res, int status, json_t *stolen_value);
