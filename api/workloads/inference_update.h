// PATCH of an inference: what is sent is merged into its specification, which is checked as a whole.
#pragma once

struct error;
struct request;

// Changes the inference of the path; on disk when it returns.
int inference_update(struct request *req, struct error *err);
