#include "cli/browser.h"

#include "cli/profile.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPENER "xdg-open"

enum {
    PATH_SIZE = 4096
};

static const char URL_LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?=%[]";

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

bool browser_is_here(void)
{
    const char *folders = getenv("PATH");
    char path[PATH_SIZE];
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        return false;
    for (const char *at = folders; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        int length = snprintf(path, sizeof(path), "%.*s/" OPENER, (int)strcspn(at, ":"), at);
        if (length < PATH_SIZE && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

// In a session of its own before this one may end: what is in a terminal's is hung up with it.
void browser_open(const char *url)
{
    char *words[] = {OPENER, (char *)url, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t child;
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&attributes) == 0) {
        if (posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID) == 0 &&
            posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
            posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
            posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO) == 0)
            (void)posix_spawnp(&child, OPENER, &files, &attributes, words, environ); // the address was printed
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
}

bool browser_open_secret(const struct profile *profile, const char *url)
{
    char path[PATH_SIZE];
    bool is_web = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (!is_web || url[strspn(url, URL_LETTERS)] != '\0' ||
        snprintf(path, sizeof(path), "%s/open.html", profile->folder) >= PATH_SIZE)
        return false;
    (void)unlink(path); // of the time before
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool is_whole =
        dprintf(fd,
                "<!DOCTYPE html><meta name=\"referrer\" content=\"no-referrer\">"
                "<meta http-equiv=\"refresh\" content=\"0; url=%s\"><a href=\"%s\">On to the workload</a>\n",
                url, url) > 0;
    if (close(fd) < 0 || !is_whole)
        return false;
    browser_open(path);
    return true;
}
