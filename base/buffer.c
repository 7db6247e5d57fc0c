#include "base/buffer.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_init(struct buffer *buffer, size_t maximum)
{
    *buffer = (struct buffer){.maximum = maximum};
}

void buffer_done(struct buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->data);
    *buffer = (struct buffer){.maximum = buffer->maximum};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->overflow = false;
    if (buffer->data)
        buffer->data[0] = '\0';
}

char *buffer_take(struct buffer *buffer)
{
    char *data = buffer->data ? buffer->data : memory_strdup("");
    *buffer = (struct buffer){.maximum = buffer->maximum};
    return data;
}

static bool reserve(struct buffer *buffer, size_t more)
{
    if (buffer->maximum && buffer->length + more > buffer->maximum) {
        buffer->overflow = true;
        return false;
    }
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity)
        return true;
    size_t larger = buffer->capacity ? buffer->capacity * 2 : 256;
    if (larger < needed)
        larger = needed;
    buffer->data = memory_realloc(buffer->data, larger);
    buffer->capacity = larger;
    return true;
}

void buffer_append(struct buffer *buffer, const void *data, size_t length)
{
    if (!reserve(buffer, length))
        return;
    if (length)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_char(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0 && reserve(buffer, (size_t)length)) {
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buffer_vprintf(buffer, format, args);
    va_end(args);
}
