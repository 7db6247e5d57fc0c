// What a request may do, by its head alone: be answered with a page, or go on to a pod.
#pragma once
#include "apps/head.h"
#include "apps/passes.h"

struct buffer;

struct entry_desk {
    struct app_domain domain;
    struct passes *passes;
};

// True: the request goes to *out_pass's place, whose pass *out_number is held. Else the answer was appended to out.
bool entry_decide(const struct entry_desk *desk, const struct head *head, int64_t now_us, struct app_pass *out_pass,
                  int *out_number, struct buffer *out);
// The page for what was wrong with a head, a right or a port.
void entry_write_error(const struct error *error, bool is_of_port, struct buffer *out);
