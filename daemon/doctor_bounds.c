// What bounds pods on this machine: memory, cores, processes.
#include "backends/local/cgroups/cgroups.h"
#include "backends/local/cgroups/memory_bound.h"
#include "backends/local/specification/isolation.h"
#include "base/arena.h"
#include "base/error.h"
#include "daemon/doctor.h"
#include "daemon/settings.h"

#include <inttypes.h>

static const char DELEGATE[] =
    "in the server's systemd unit set Delegate=yes (system: /etc/systemd/system/prorata.service; a user's own: "
    "~/.config/systemd/user), then systemctl daemon-reload and restart it";
static const char UNIFIED[] = "start the kernel with systemd.unified_cgroup_hierarchy=1, or set Delegate=yes in the "
                              "server's systemd unit";

static const char *by(bool has_v2, bool has_v1)
{
    return has_v2 ? "cgroup v2" : has_v1 ? "cgroup v1" : NULL;
}

static void look_at_processes(const char *pids, struct findings *findings)
{
    struct arena *arena = findings->arena;
    if (pids)
        findings_add(findings, FINDING_GOOD, "processes",
                     arena_printf(arena, "each pod has at most %d processes, by %s", CGROUP_PROCESSES_MAX, pids), NULL);
    else
        findings_add(findings, FINDING_NOTE, "processes",
                     arena_printf(arena,
                                  "no cgroup bounds a pod's processes here: all pods of a project have at most %d "
                                  "together, where the project has a user of its own",
                                  4 * CGROUP_PROCESSES_MAX),
                     "give the server cgroup v2 with the controller pids");
}

static void look_at_default(const struct settings *settings, const char *memory, struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct memory_default rule;
    struct error err = {0};
    if (memory_default_parse(settings->local_memory_default, &rule, &err) < 0)
        findings_add(findings, FINDING_PROBLEM, "memory",
                     arena_printf(arena, "--local-memory-default: %s", err.message), NULL);
    else if (!memory)
        findings_add(findings, FINDING_NOTE, "memory",
                     "nothing bounds the memory of pods here: one of them can use all of this machine's",
                     "let the server make cgroups with the controller memory");
    else if (rule.kind == MEMORY_DEFAULT_NONE)
        findings_add(findings, FINDING_NOTE, "memory",
                     arena_printf(arena, "bounded by %s, where a pod names a limit; others have none", memory),
                     "serve without --local-memory-default none");
    else if (rule.kind == MEMORY_DEFAULT_SHARE)
        findings_add(findings, FINDING_GOOD, "memory",
                     arena_printf(arena,
                                  "bounded by %s: a pod without a limit has its GPUs' share of the machine's, an "
                                  "eighth without GPUs",
                                  memory),
                     NULL);
    else
        findings_add(
            findings, FINDING_GOOD, "memory",
            arena_printf(arena, "bounded by %s: a pod without a limit has %" PRId64 " MiB", memory, rule.bytes >> 20),
            NULL);
}

static void look_at_isolation(const struct settings *settings, struct findings *findings)
{
    char reason[ISOLATION_REASON_SIZE];
    bool is_possible = isolation_is_possible(reason);
    if (is_possible && !settings->local_shares_tmp)
        findings_add(findings, FINDING_GOOD, "isolation",
                     "each pod has a /tmp of its own, each workload shared memory of its own", NULL);
    else if (is_possible)
        findings_add(
            findings, FINDING_NOTE, "isolation",
            "each workload has shared memory of its own; /tmp is the machine's, and what pods leave there stays",
            "serve without --local-private-tmp off");
    else
        findings_add(
            findings, FINDING_NOTE, "isolation",
            arena_printf(findings->arena,
                         "pods share this machine's /tmp and shared memory, and what they leave there stays: %s",
                         reason),
            "run the server as root, where it may make namespaces of mounts and IPC (CAP_SYS_ADMIN)");
}

void doctor_look_at_bounds(const struct settings *settings, struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct cgroups_view view;
    cgroups_look(&view);
    const char *memory = by(view.is_writable && view.has_memory, view.has_v1[CGROUPS_V1_MEMORY]);
    const char *cpu = by(view.is_writable && view.has_cpu, view.has_v1[CGROUPS_V1_CPU]);
    if (memory && cpu)
        findings_add(findings, FINDING_GOOD, "cgroups",
                     arena_printf(arena, "memory of pods is bounded by %s, cores by %s", memory, cpu), NULL);
    else if (!view.path[0])
        findings_add(findings, FINDING_NOTE, "cgroups",
                     "cgroup v2 is not mounted, and v1 not usable: no bounds of pods", UNIFIED);
    else if (!view.is_writable)
        findings_add(findings, FINDING_NOTE, "cgroups",
                     arena_printf(arena, "%s is not this user's: pods have bounds by rlimits only", view.path),
                     DELEGATE);
    else
        findings_add(findings, FINDING_NOTE, "cgroups",
                     arena_printf(arena, "%s has no controller for %s, nor can v1 be used: no such bounds of pods",
                                  view.path,
                                  memory ? "cpu"
                                  : cpu  ? "memory"
                                         : "memory and cpu"),
                     memory || cpu ? DELEGATE : UNIFIED);
    look_at_isolation(settings, findings);
    look_at_default(settings, memory, findings);
    look_at_processes(by(view.is_writable && view.has_pids, view.has_v1[CGROUPS_V1_PIDS]), findings);
}
