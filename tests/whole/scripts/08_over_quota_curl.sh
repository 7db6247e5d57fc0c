#!/usr/bin/env bash
# Over quota, fairness and preemption, by curl: team-a borrows a GPU, team-b takes it back.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r '.[0].uuid')
submit() { # NAME PROJECT GPUS
  local project
  project=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==$2" | jq -r '.projects[0].id')
  api "$BASE/api/v1/workloads/trainings" -d '{
    "name": "'"$1"'",
    "projectId": "'"$project"'",
    "clusterId": "'"$CLUSTER"'",
    "spec": {
      "image":"runai.jfrog.io/demo/quickstart",
      "compute": {
        "gpuDevicesRequest": '"$3"'
      }
    }
  }' | jq -r .workloadId
}
status() { api "$BASE/api/v1/workloads?sortBy=name" | jq -r '.workloads[] | "\(.name) \(.phase) \(.projectName)"'; }
A1=$(submit a1 team-a 1)
A2=$(submit a2 team-a 2)
B1=$(submit b1 team-b 1)
for id in "$A1" "$A2" "$B1"; do until [ "$(phase "$id")" = Running ]; do sleep 0.1; done; done
echo "Over quota:"
status
B2=$(submit b2 team-b 1)
until [ "$(phase "$B2")" = Running ]; do sleep 0.1; done
echo "Reclaimed:"
status
api "$BASE/api/v1/workloads/$A1/events" | jq -r '.events[] | select(.reason == "Preempted") | .message'
for id in "$A1" "$A2" "$B1" "$B2"; do api -X DELETE "$BASE/api/v1/workloads/trainings/$id"; done
