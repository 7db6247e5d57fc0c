// Trainings: one pod, or the same pod several times over.
#include "api/operations.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_submission.h"

int op_create_training1(struct request *req, struct response *res, struct error *err)
{
    return workload_submit(req, res, WORKLOAD_TYPE_TRAINING, err);
}

int op_get_training(struct request *req, struct response *res, struct error *err)
{
    return workload_answer(req, res, &KIND_TRAINING, err);
}

int op_delete_training(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_TRAINING, WISH_DELETED, err);
}

int op_suspend_training(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_TRAINING, WISH_STOPPED, err);
}

int op_resume_training(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_TRAINING, WISH_RUNNING, err);
}
