// Distributed trainings: workers that are placed together, with or without a master.
#include "api/operations.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_submission.h"

int op_create_distributed(struct request *req, struct response *res, struct error *err)
{
    return workload_submit(req, res, WORKLOAD_TYPE_DISTRIBUTED, err);
}

int op_get_distributed(struct request *req, struct response *res, struct error *err)
{
    return workload_answer(req, res, &KIND_DISTRIBUTED, err);
}

int op_delete_distributed(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_DISTRIBUTED, WISH_DELETED, err);
}

int op_suspend_distributed(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_DISTRIBUTED, WISH_STOPPED, err);
}

int op_resume_distributed(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_DISTRIBUTED, WISH_RUNNING, err);
}
