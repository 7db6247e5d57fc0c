#include "scheduler/victims/ranking.h"

#include "scheduler/state/queue.h"
#include "scheduler/state/wording.h"

bool ranking_may_take(const struct queue *project, struct amounts project_held, const struct queue *own,
                      struct amounts own_held, struct amounts requested, const struct queue *sibling)
{
    enum resource r = wording_resource(requested);
    return own->rank_decides[r] && sibling->rank_decides[r] && own->spec->rank > sibling->spec->rank &&
           !queue_exceeds_deserved(project, amounts_add(project_held, requested)) &&
           !queue_exceeds_deserved(own, amounts_add(own_held, requested));
}
