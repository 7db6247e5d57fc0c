#include "api/access/grants.h"

#include "api/access/custom_roles.h"
#include "base/arena.h"
#include "db/access_rules.h"

int grants_load(struct db_conn *conn, bool is_user, const char *rule_key, size_t spare_count, struct arena *arena,
                struct grant **out_items, size_t *out_count, struct error *err)
{
    struct access_rule *rules;
    size_t rule_count, count = 0;
    if (db_list_rules_in_force(conn, is_user, rule_key, arena, &rules, &rule_count, err) < 0)
        return -1;
    struct grant *items = arena_array(arena, rule_count + spare_count + 1, sizeof(*items));
    for (size_t i = 0; i < rule_count; i++) {
        const struct role *role = role_of_rule(&rules[i], arena);
        if (role)
            items[count++] = (struct grant){
                .role = role, .scope = rules[i].scope_type, .path = rules[i].path, .expires_ms = rules[i].expires_ms};
    }
    *out_items = items;
    *out_count = count;
    return 0;
}
