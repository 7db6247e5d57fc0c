// Workspaces: one pod for a person to work in.
#include "api/operations.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_submission.h"

int op_create_workspace1(struct request *req, struct response *res, struct error *err)
{
    return workload_submit(req, res, WORKLOAD_TYPE_WORKSPACE, err);
}

int op_get_workspace(struct request *req, struct response *res, struct error *err)
{
    return workload_answer(req, res, &KIND_WORKSPACE, err);
}

int op_delete_workspace(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_WORKSPACE, WISH_DELETED, err);
}

int op_suspend_workspace(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_WORKSPACE, WISH_STOPPED, err);
}

int op_resume_workspace(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_WORKSPACE, WISH_RUNNING, err);
}
