#include "backends/local/specification/honours.h"

#include "backends/spec_find.h"
#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

// The path is spec_find's.
struct honour {
    const char *path;
    const char *value; // NULL: any but false, "" and []
    unsigned places;   // 0: refused at the submission
    const char *says;
};

#define NOBODY_CHECKS_CALLERS "nobody checks callers on this machine: use public, and let the command ask who calls"

static const struct honour HONOURS[] = {
    {"security.capabilities", NULL, 0, "pods have no capabilities on this machine"},
    {"security.seccompProfileType", "Localhost", 0, "this machine has no profiles of its own"},
    {"servingPort.authorizationType", "authenticatedUsers", 0, NOBODY_CHECKS_CALLERS},
    {"servingPort.authorizationType", "authorizedUsers", 0, NOBODY_CHECKS_CALLERS},
    {"servingPort.authorizationType", "authorizedGroups", 0, NOBODY_CHECKS_CALLERS},
    {"servingPort.authorizationType", "authorizedUsersOrGroups", 0, NOBODY_CHECKS_CALLERS},
    {"storage.pvc[].path", NULL, 0, "claims need Kubernetes; use hostPath"},
    {"storage.nfs[].path", NULL, 0, "mount it on the machine, and use hostPath"},
    {"storage.s3[].bucket", NULL, 0, "mount it on the machine, and use hostPath"},
    {"storage.dataVolume[].id", NULL, 0, "data volumes need Kubernetes; use hostPath"},
    {"environmentVariables[].userCredential", NULL, 0, "this machine holds no credentials of users; use a secret"},
    {"compute.cpuCoreLimit", NULL, HONOUR_WITHOUT_CPU, "is not kept: no cgroup bounds cores here (prorata doctor)"},
    {"compute.cpuMemoryLimit", NULL, HONOUR_WITHOUT_MEMORY,
     "bounds each process, not all together: no cgroup bounds memory here (prorata doctor)"},
    {"compute.gpuPortionLimit", NULL, HONOUR_ANYWHERE, "is not kept: what was requested is the bound"},
    {"compute.gpuMemoryLimit", NULL, HONOUR_ANYWHERE, "is not kept: what was requested is the bound"},
    {"imagePullSecrets[].name", NULL, HONOUR_IN_IMAGE, "are not used: the runtime pulls with its own sign-in"},
    {"probes.readiness", NULL, HONOUR_ANYWHERE, "is not probed: a pod is ready when it runs"},
    {"stdin", NULL, HONOUR_ANYWHERE, "is not kept open: prorata bash and exec bring an input of their own"},
    {"tty", NULL, HONOUR_ANYWHERE, "is not given: prorata bash opens a terminal"},
    {"ports[].external", NULL, HONOUR_ANYWHERE, "is not mapped: the command's port is the machine's"},
    {"ports[].serviceType", "LoadBalancer", HONOUR_ANYWHERE, "makes no service: the command's port is the machine's"},
    {"ports[].serviceType", "NodePort", HONOUR_ANYWHERE, "makes no service: the command's port is the machine's"},
    {"exposedUrls[].url", NULL, HONOUR_ANYWHERE, "is shown, and the command itself must answer there"},
    {"exposedUrls[].authorizationType", NULL, HONOUR_ANYWHERE,
     "counts for addresses of --apps-listen alone: at the port itself the command must ask who calls"},
    {"security.allowPrivilegeEscalation", NULL, HONOUR_ANYWHERE, "is never granted on a shared machine"},
    {"security.readOnlyRootFilesystem", NULL, HONOUR_ON_MACHINE, "is not kept: the user's rights decide"},
    {"security.seccompProfileType", "RuntimeDefault", HONOUR_ON_MACHINE, "is not set: it needs a container runtime"},
    {"security.uidGidSource", "fromTheImage", HONOUR_ANYWHERE, "is not kept: pods run as the user that is mapped"},
    {"security.uidGidSource", "fromIdpToken", HONOUR_ANYWHERE, "is not kept: pods run as the user that is mapped"},
    {"storage.emptyDirVolume[].sizeLimit", NULL, HONOUR_ON_MACHINE, "is not kept: the folder may grow"},
    {"storage.emptyDirVolume[].medium", "Memory", HONOUR_ON_MACHINE, "is not kept: the folder is on the disk"},
    {"storage.hostPath[].readOnly", NULL, HONOUR_ON_MACHINE, "is not kept: the user's rights to the path decide"},
    {"storage.hostPath[].mountPropagation", "HostToContainer", HONOUR_ON_MACHINE, "has no meaning without a container"},
    {"cleanPodPolicy", "None", HONOUR_ANYWHERE, "is not kept: workers that still run when the master ends are stopped"},
    {"mpiLauncherCreationPolicy", "WaitForWorkersReady", HONOUR_ANYWHERE, "is not kept: all pods start together"},
    {"sshAuthMountPath", NULL, HONOUR_ANYWHERE, "is not used: workers of one machine need no ssh"},
};

int honours_check(const struct json_t *spec, struct error *err)
{
    struct arena arena;
    const char *where;
    int rc = 0;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(HONOURS) / sizeof(HONOURS[0]) && rc == 0; i++)
        if (!HONOURS[i].places && spec_find(spec, HONOURS[i].path, HONOURS[i].value, &arena, &where))
            rc = error_set(err, ERROR_INVALID, "%s: %s", where, HONOURS[i].says);
    arena_done(&arena);
    return rc;
}

size_t honours_notes(const struct json_t *spec, unsigned places, struct arena *arena, const char ***out_notes)
{
    size_t count = 0;
    const char *where;
    *out_notes = arena_array(arena, sizeof(HONOURS) / sizeof(HONOURS[0]), sizeof(**out_notes));
    for (size_t i = 0; i < sizeof(HONOURS) / sizeof(HONOURS[0]); i++)
        if ((HONOURS[i].places & places) && spec_find(spec, HONOURS[i].path, HONOURS[i].value, arena, &where))
            (*out_notes)[count++] = arena_printf(arena, "%s%s%s %s", where, HONOURS[i].value ? ": " : "",
                                                 HONOURS[i].value ? HONOURS[i].value : "", HONOURS[i].says);
    return count;
}
