#!/usr/bin/env bash
# Two workspaces share one GPU, half of its memory each, by curl.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
submit() {
  api "$BASE/api/v1/workloads/workspaces" -d '{
    "name": "'"$1"'", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {
      "image": "gcr.io/run-ai-lab/pytorch-example-jupyter",
      "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5, "gpuPortionLimit": 1}
    }
  }' | jq -r .workloadId
}
A=$(submit frac05-1)
B=$(submit frac05-2)
for id in "$A" "$B"; do until [ "$(phase "$id")" = Running ]; do sleep 0.1; done; done
api "$BASE/api/v1/workloads?sortBy=name" | jq -r '.workloads[] | "\(.name) \(.allocatedResources.gpu) GPU"'
api "$BASE/api/v1/org-unit/projects/$PROJECT" | jq -r '"team-a holds \(.status.quotaStatus.allocated.gpu) GPU"'
api "$BASE/api/v1/workloads/workspaces" -d '{
    "name": "frac-bad", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 1.5}}
  }' | jq -r '"refused: \(.message)"' || true
for id in "$A" "$B"; do api -X DELETE "$BASE/api/v1/workloads/workspaces/$id"; done
