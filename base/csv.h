// CSV by RFC 4180.
#pragma once

struct buffer;

// A cell in quotes. What a spreadsheet would take for a formula gets an apostrophe in front.
void csv_cell(struct buffer *out, const char *text);
