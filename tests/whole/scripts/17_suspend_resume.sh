#!/usr/bin/env bash
# A training suspended, resumed and deleted, by curl, alone and in a batch.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
submit() {
  api "$BASE/api/v1/workloads/trainings" -d '{"name": "'"$1"'", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}}}' | jq -r .workloadId
}
ID=$(submit one)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api -X POST "$BASE/api/v1/workloads/trainings/$ID/suspend" >answer.json
until [ "$(phase "$ID")" = Stopped ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$ID" | jq -r '"\(.phase) holds \(.allocatedResources.gpu // 0) GPUs"'
api -X POST "$BASE/api/v1/workloads/trainings/$ID/resume" >answer.json
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$ID/history" | jq -r '[.records[].spec.phaseUpdate.phase // empty] | "phases: \(join(" "))"'
TWO=$(submit two)
api "$BASE/api/v1/workloads/batch" -d '{"action": "delete", "ids": ["'"$ID"'", "'"$TWO"'"]}' | jq -c .
while [ "$(api "$BASE/api/v1/workloads/count" | jq .count)" != 0 ]; do sleep 0.1; done
api "$BASE/api/v1/workloads?deleted=true&filterBy=name==two&sortBy=deletedAt&sortOrder=desc" | jq -r '"deleted: \(.workloads[0].name)"'
