// Arena: memory of one request or one cycle, freed whole. Blocks grow by doubling; nothing is freed alone.
// arena_alloc never returns NULL: outside input is bounded before it gets here, and without memory the process logs a
// line and aborts (a crash is repaired at start). Under AddressSanitizer every allocation is a malloc, so overruns
// show. Not thread-safe: one arena belongs to one thread at a time.
#pragma once
#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; // newest first
    size_t used_bytes;          // of all allocations, for budgets and metrics
    size_t block_bytes;         // size of the next block
};

void arena_init(struct arena *arena);
// Frees everything; the arena is empty and usable again.
void arena_clear(struct arena *arena);
void arena_done(struct arena *arena);

// Zeroed, aligned for any type. size 0 gives a valid pointer.
void *arena_alloc(struct arena *arena, size_t size);
// An array of count elements of size bytes each; aborts on overflow.
void *arena_array(struct arena *arena, size_t count, size_t size);
// Grows an arena array that holds *capacity elements to at least needed (doubling); returns the moved copy.
void *arena_grow(struct arena *arena, void *old, size_t *capacity, size_t needed, size_t size);
char *arena_strdup(struct arena *arena, const char *text); // NULL gives NULL
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args);

// malloc, calloc, realloc and strdup that abort instead of failing; freed with free().
void *memory_alloc(size_t size);
void *memory_array(size_t count, size_t size);
void *memory_realloc(void *old, size_t size);
char *memory_strdup(const char *text);
