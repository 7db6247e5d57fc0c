#!/usr/bin/env bash
# A PyTorch training with a master and two workers, all or none, by curl.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
ID=$(api "$BASE/api/v1/workloads/distributed" -d '{
  "name": "dist-name",
  "projectId": "'"$PROJECT"'",
  "clusterId": "'"$CLUSTER"'",
  "spec": {
    "image": "kubeflow/pytorch-dist-mnist:latest",
    "compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"},
    "numWorkers": 2,
    "distributedFramework": "PyTorch"
  },
  "masterSpecSameAsWorker": true
}' | jq -r .workloadId)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$ID" | jq -r '"\(.type) \(.distributedFramework) \(.phase) \(.allocatedResources.gpu) GPUs"'
api "$BASE/api/v1/workloads/$ID/pods" | jq -r '.pods | "\(length) pods on \([.[].nodeName] | unique | length) nodes"'
# A gang that can never fit waits as a whole.
BIG=$(api "$BASE/api/v1/workloads/distributed" -d '{
  "name": "dist-too-big", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
  "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}, "numWorkers": 9, "distributedFramework": "PyTorch"}
}' | jq -r .workloadId)
until [ "$(phase "$BIG")" = Pending ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$BIG" | jq -r '"\(.phase) with \(.runningPods) running"'
api -X DELETE "$BASE/api/v1/workloads/distributed/$BIG"
api -X DELETE "$BASE/api/v1/workloads/distributed/$ID"
