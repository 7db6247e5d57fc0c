// Answers are gzipped where the client takes it: text of 1 KB and more that is not packed already. Level 3 takes the
// time of level 1 and packs a list of workloads to a fifteenth (docs/stack.md has the figures).
#pragma once
#include <stdbool.h>

struct buffer;
struct exchange;

// Whether the answer, as it stands, may be sent packed to who asks for it; then it says Vary.
bool packing_suits(const struct exchange *exchange);
// Packs the body where the client takes it and adds the header. At most PACKERS_MAX do so at once, each with a quarter
// of a MiB beside the packed text; whoever comes then gets it plain.
void packing_apply(struct exchange *exchange);

// Whether a header value like "gzip;q=0.5, br" takes gzip, and likes plain text no better.
bool accepts_gzip(const char *accept_encoding);
