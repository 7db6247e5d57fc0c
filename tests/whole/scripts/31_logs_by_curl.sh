#!/usr/bin/env bash
# A training that ends, its output and its exit status, by curl. Needs a server on this machine.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
submit() { # NAME COMMAND
  api "$BASE/api/v1/workloads/trainings" -d '{"name": "'"$1"'", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {"image": "none", "command": "sh", "args": "-c \"'"$2"'\"", "restartPolicy": "Never", "backoffLimit": 0, "compute": {"gpuDevicesRequest": 1}}}' |
    jq -r .workloadId
}
GOOD=$(submit good 'echo epoch 1; echo epoch 2')
BAD=$(submit bad 'echo no data >&2; exit 3')
until [ "$(phase "$GOOD")" = Completed ]; do sleep 0.1; done
until [ "$(phase "$BAD")" = Failed ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$GOOD/logs"
api "$BASE/api/v1/workloads/$GOOD/logs?tail=1" | sed 's/^/the last line: /'
api "$BASE/api/v1/workloads/$BAD/logs"
api "$BASE/api/v1/workloads/$BAD/events" | jq -r '.events[] | select(.reason == "Failed") | .message'
for id in "$GOOD" "$BAD"; do api -X DELETE "$BASE/api/v1/workloads/trainings/$id"; done
