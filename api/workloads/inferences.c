// Inferences: replicas of one pod behind one address.
#include "api/operations.h"
#include "api/workloads/inference_update.h"
#include "api/workloads/workload_actions.h"
#include "api/workloads/workload_submission.h"

int op_create_inference1(struct request *req, struct response *res, struct error *err)
{
    return workload_submit(req, res, WORKLOAD_TYPE_INFERENCE, err);
}

int op_get_inference(struct request *req, struct response *res, struct error *err)
{
    return workload_answer(req, res, &KIND_INFERENCE, err);
}

int op_delete_inference(struct request *req, struct response *res, struct error *err)
{
    return workload_act(req, res, &KIND_INFERENCE, WISH_DELETED, err);
}

int op_update_inference_spec(struct request *req, struct response *res, struct error *err)
{
    if (inference_update(req, err) < 0)
        return -1;
    return workload_answer(req, res, &KIND_INFERENCE, err);
}
