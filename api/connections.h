// How many connections each remote address holds. A connection holds a worker from accept to close, so one address gets
// at most a quarter of them; a configured proxy, which speaks for many, gets what there is.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connections;

struct connections *connections_create(size_t capacity, size_t max_per_address);
void connections_destroy(struct connections *connections); // NULL is fine

// address in network order. False when it has its share already: the connection is counted all the same, and is to be
// cut.
bool connections_add(struct connections *connections, uint32_t address, bool is_proxy);
void connections_remove(struct connections *connections, uint32_t address);
size_t connections_count(struct connections *connections);
