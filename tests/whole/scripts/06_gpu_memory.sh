#!/usr/bin/env bash
# A training that asks for GPU memory instead of a share, by curl and by the command line.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
ID=$(api "$BASE/api/v1/workloads/trainings" -d '{
  "name": "memory-by-curl", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
  "spec": {
    "image": "runai.jfrog.io/demo/quickstart",
    "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "4G"}
  }
}' | jq -r .workloadId)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/trainings/$ID" | jq -r '.spec.compute | "\(.gpuRequestType) \(.gpuMemoryRequest)"'
api "$BASE/api/v1/workloads/$ID" | jq -r '"some of a GPU: \(.allocatedResources.gpu > 0 and .allocatedResources.gpu < 1)"'

runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
runai training submit memory-by-words -p team-a -i runai.jfrog.io/demo/quickstart --gpu-memory-request 4G
runai submit memory-by-old-words -p team-a -i runai.jfrog.io/demo/quickstart --gpu-memory 4G
runai training describe memory-by-words -p team-a
runai training delete memory-by-words memory-by-old-words memory-by-curl -p team-a -y
