// The simulated cluster is everybody's: who changes its nodes or its clock needs the right in the cluster itself.
#pragma once
#include "api/access/roles.h"

struct error;
struct request;

// Whether there is one, and whether the caller may do this to its nodes; 404 for real backends.
int simulation_check(struct request *req, enum access_action action, struct error *err);
