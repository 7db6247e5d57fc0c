// The migrations, embedded by the build from db/migrations/*.sql in order of their numbers.
#pragma once
#include <stddef.h>

struct migration {
    int number;
    const char *name;
    const char *sql;
};

extern const struct migration MIGRATIONS[];
extern const size_t MIGRATION_COUNT;
