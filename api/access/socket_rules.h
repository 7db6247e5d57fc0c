// Which groups of this machine come in by its Unix socket, and as what: `gpu-users=team-a:L1 researcher` lets the
// members of the group gpu-users be L1 researchers in the project team-a.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum {
    SOCKET_RULES_MAX = 16
};

struct socket_rule {
    const char *group;
    const char *project; // by its name; it may come later
    int64_t role_id;
    const char *role_name;
};

struct socket_rules {
    struct socket_rule items[SOCKET_RULES_MAX];
    size_t count;
    bool is_root_administrator; // root of this machine is system administrator here
};

// ERROR_INVALID says what is wrong with the line, and names the roles where the role is unknown. Texts are the arena's.
int socket_rule_parse(const char *line, struct arena *arena, struct socket_rule *out_rule, struct error *err);
int socket_rules_read(const char *const *lines, size_t count, bool is_root_administrator, struct arena *arena,
                      struct socket_rules *out_rules, struct error *err);
// False: nobody could come in.
bool socket_rules_admit_somebody(const struct socket_rules *rules);
