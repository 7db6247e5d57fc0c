// One GET of a watch's reader: a page of a list, a watch, or a question. A good answer goes through kube_lines as it
// comes, a failure is kept and read. Driven by the caller's multi handle, in one thread.
#pragma once
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/watch/kube_lines.h"

struct kube_stream {
    struct kube_transfer transfer;
    struct kube_lines lines;
    struct buffer failure;
    struct kube_answer *answer; // how it ended, the caller's; its body and text are gone
    int64_t began_us, heard_us; // monotonic
    int64_t line_count;
    char problem[CURL_ERROR_SIZE];
    bool is_done, is_refused; // by the taker of lines, or for their length
    void (*begin)(void *context);
    void *context;
};

struct kube_stream_request {
    const char *path, *query;
    enum kube_lines_form form;
    int64_t timeout_ms; // 0: none
    size_t line_max;
    kube_line_fn take;
    void (*begin)(void *context); // the answer begins, and is good; NULL: nobody asks
    void *context;
    struct kube_answer *answer; // filled
};

// -1: no credentials; the answer says so, and kube_stream_end is to be called all the same.
int kube_stream_begin(struct kube_stream *stream, struct kube_access *access, CURLM *multi,
                      const struct kube_stream_request *request, const atomic_bool *stopping);
// Takes note of which streams of the multi handle have ended.
void kube_stream_take_ended(CURLM *multi, struct kube_access *access);
// Ends it where it has not, and frees what it holds but the rest of a list, which goes with
// kube_stream_done.
void kube_stream_end(struct kube_stream *stream, CURLM *multi);
void kube_stream_done(struct kube_stream *stream);
