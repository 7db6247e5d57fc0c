// A growing byte buffer with a named maximum, and text appended to it. Heap memory; buffer_done frees it.
// Appending past the maximum drops the rest and sets `overflow`: the owner looks at it once, at the end.
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data; // always ends in '\0' once anything was appended; NULL before
    size_t length;
    size_t capacity;
    size_t maximum; // bytes; 0 means none
    bool overflow;
};

void buffer_init(struct buffer *buffer, size_t maximum);
void buffer_done(struct buffer *buffer); // NULL is fine
void buffer_clear(struct buffer *buffer);
// Hands over the text (free() it); never NULL. The buffer is empty afterwards.
char *buffer_take(struct buffer *buffer);
void buffer_append(struct buffer *buffer, const void *data, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_char(struct buffer *buffer, char c);
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list args);
