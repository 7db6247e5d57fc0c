#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ARENA_FIRST_BLOCK = 4096,
    ARENA_LARGEST_BLOCK = 1 << 20,
    ARENA_ALIGNMENT = 16
};

struct arena_block {
    struct arena_block *next;
    size_t capacity;
    size_t used;
    _Alignas(16) unsigned char data[];
};

static _Noreturn void die_without_memory(size_t size)
{
    fprintf(stderr, "error base: out of memory bytes=%zu\n", size);
    abort();
}

void *memory_alloc(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory)
        die_without_memory(size);
    return memory;
}

void *memory_array(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        die_without_memory(size);
    return memory;
}

void *memory_realloc(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory)
        die_without_memory(size);
    return memory;
}

char *memory_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(memory_alloc(size), text, size);
}

void arena_init(struct arena *arena)
{
    *arena = (struct arena){.block_bytes = ARENA_FIRST_BLOCK};
}

void arena_clear(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena_init(arena);
}

void arena_done(struct arena *arena)
{
    if (arena)
        arena_clear(arena);
}

static struct arena_block *add_block(struct arena *arena, size_t capacity)
{
    struct arena_block *block = memory_alloc(sizeof(*block) + capacity);
    block->next = arena->blocks;
    block->capacity = capacity;
    block->used = 0;
    arena->blocks = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        die_without_memory(size);
    size_t rounded = (size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    arena->used_bytes += rounded;
#ifdef PRORATA_ASAN
    return memset(add_block(arena, size)->data, 0, size);
#else
    struct arena_block *block = arena->blocks;
    if (!block || block->capacity - block->used < rounded) {
        size_t next = arena->block_bytes ? arena->block_bytes : ARENA_FIRST_BLOCK;
        block = add_block(arena, rounded > next ? rounded : next);
        arena->block_bytes = next < ARENA_LARGEST_BLOCK ? next * 2 : next;
    }
    void *memory = block->data + block->used;
    block->used += rounded;
    return memset(memory, 0, size);
#endif
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        die_without_memory(SIZE_MAX);
    return arena_alloc(arena, bytes);
}

void *arena_grow(struct arena *arena, void *old, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return old;
    size_t larger = *capacity ? *capacity * 2 : 8;
    if (larger < needed)
        larger = needed;
    void *memory = arena_array(arena, larger, size);
    if (old)
        memcpy(memory, old, *capacity * size);
    *capacity = larger;
    return memory;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0)
        length = 0;
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
