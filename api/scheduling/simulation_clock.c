// How fast simulated lives pass.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/scheduling/simulation.h"
#include "api/server.h"
#include "reconciler/reconciler.h"

int op_get_simulation_clock(struct request *req, struct response *res, struct error *err)
{
    double speed;
    if (reconciler_get_speed(req->server->reconciler, &speed, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:f}", "speed", speed));
}

int op_set_simulation_clock(struct request *req, struct response *res, struct error *err)
{
    double speed = json_number_value(json_object_get(req->body, "speed"));
    if (simulation_check(req, ACTION_UPDATE, err) < 0 || reconciler_set_speed(req->server->reconciler, speed, err) < 0)
        return -1;
    return response_json(res, json_pack("{s:f}", "speed", speed));
}
