// What a backend may look at while it is made.
#pragma once
#include <stdbool.h>

struct arena;
struct backend_vault;
struct data_folder;
struct db;
struct place_book;
struct settings;

struct backend_site {
    const struct settings *settings;
    const struct data_folder *folder;
    struct db *db;
    struct arena *arena;
    bool is_first;                     // the first start in this folder
    bool is_new;                       // or the first with this backend: it has no nodes yet
    const struct backend_vault *vault; // outlives the backend
    struct place_book *places;         // likewise
};
