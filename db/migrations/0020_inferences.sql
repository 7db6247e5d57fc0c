-- Inferences: how many replicas are wanted is pods_wanted, which the reconciler moves between the bounds.
ALTER TABLE workloads ADD COLUMN serving_json TEXT; -- of an inference (model/serving.h): bounds, metric, what a replica asks for; NULL: none
ALTER TABLE workloads ADD COLUMN generation INTEGER NOT NULL DEFAULT 0; -- of its specification: one more with each change
ALTER TABLE pods ADD COLUMN generation INTEGER NOT NULL DEFAULT 0; -- of the specification that the pod was made from
