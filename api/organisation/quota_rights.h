// Whose quota it is to give: what a project is owed, its limit, weight and rank, is given by who may update projects in
// its department; a department's by who may update departments in the cluster. The tenant setting
// administratorsSetOwnQuota lets who may update the unit itself do it, as releases before this rule did.
#pragma once
#include "model/org_unit.h"

struct db;
struct db_conn;
struct error;
struct identity;

// Inside a write function, after a change: ERROR_FORBIDDEN where quota, limit, weight or rank of a pool is no longer
// what it was before and is not the caller's to change.
int quota_rights_check(struct db_conn *conn, const struct identity *caller, const struct org_unit *before,
                       const struct org_unit *after, struct error *err);

// At the first start under this rule: a line of the log for each access rule that it narrows.
int quota_rights_tell(struct db *db, struct error *err);
