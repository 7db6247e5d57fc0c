// Where a policy, a template or an asset belongs: --project, --department, --cluster, else the tenant.
#pragma once

struct cli;
struct error;

struct place {
    const char *scope;    // "tenant", "cluster", "department", "project"
    const char *key, *id; // of a policy's meta: "projectId" and its value; NULL for the tenant. In the arena
};

int cli_read_place(struct cli *cli, struct place *out, struct error *err);
