// What inferences have beside other workloads: a port at which they serve, and replicas that are kept between two
// bounds. The metric's page is named by the annotations prometheus.io/port and prometheus.io/path.
#pragma once
#include "model/fields.h"
#include "model/submission.h"

#define METRICS_PORT_ANNOTATION "prometheus.io/port"
#define METRICS_PATH_ANNOTATION "prometheus.io/path"

// Reads servingPort, autoscaling and servingConfiguration, fills their defaults into the JSON, and sets in *out how
// many pods there are at first. The amounts of a replica stand in out->worker already.
int inference_spec_read(const struct fields *spec, struct workload_spec *out);
