// Preloaded into a server: each statement that it prepares is added to the file named by $SQL_LOG, ended by a zero
// byte.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sqlite3;
struct sqlite3_stmt;
typedef int (*prepare_fn)(struct sqlite3 *, const char *, int, unsigned, struct sqlite3_stmt **, const char **);

int sqlite3_prepare_v3(struct sqlite3 *database, const char *sql, int length, unsigned flags,
                       struct sqlite3_stmt **statement, const char **tail);

int sqlite3_prepare_v3(struct sqlite3 *database, const char *sql, int length, unsigned flags,
                       struct sqlite3_stmt **statement, const char **tail)
{
    const char *path = getenv("SQL_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        ssize_t ignored = write(fd, sql, strlen(sql) + 1);
        (void)ignored;
        close(fd);
    }
    prepare_fn next = (prepare_fn)(uintptr_t)dlsym(RTLD_NEXT, "sqlite3_prepare_v3");
    return next(database, sql, length, flags, statement, tail);
}
