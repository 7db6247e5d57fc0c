// What a pod will not have as its specification says, told with its start.
#include "backends/kubernetes/kubernetes_state.h"

void pod_notes_tell(struct kubernetes *kubernetes, const struct backend_pod *row, int64_t decision)
{
    const char *const *notes;
    struct arena arena;
    arena_init(&arena);
    size_t count = kube_manifest_notes(row, &arena, &notes);
    for (size_t i = 0; i < count; i++)
        backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, row->uuid, decision), "NotHonoured",
                         notes[i]);
    arena_done(&arena);
}
