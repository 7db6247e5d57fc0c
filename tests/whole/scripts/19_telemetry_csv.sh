#!/usr/bin/env bash
# Present numbers and time series, as JSON and as CSV for a spreadsheet.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
ID=$(api "$BASE/api/v1/workloads/trainings" -d '{"name": "measured", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}}}' | jq -r .workloadId)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/telemetry?telemetryType=WORKLOADS_COUNT&groupBy=Phase" |
  jq -r '.values[] | "\(.groups[0].value): \(.value)"'
csv() { api -H "Accept: text/csv" "$@"; }
csv "$BASE/api/v1/nodes/telemetry?telemetryType=TOTAL_GPUS&groupBy=Nodepool" | tee gpus.csv
csv "$BASE/api/v1/org-unit/projects/telemetry?telemetryType=GPU_ALLOCATION&groupBy=NodepoolId" | tail -n 1
RANGE="start=$(date -u -d '-1 hour' +%FT%TZ)&end=$(date -u +%FT%TZ)&numberOfSamples=4"
csv "$BASE/api/v1/clusters/$CLUSTER/metrics?$RANGE&metricType=TOTAL_GPU" | head -n 2
api "$BASE/api/v1/workloads/$ID/metrics?$RANGE&metricType=GPU_ALLOCATION" | jq -r '"measurements: \(.measurements | type)"'
api "$BASE/api/v1/workloads/telemetry?telemetryType=COLOUR" | jq -r '"\(.code): \(.message)"' || true
api -X DELETE "$BASE/api/v1/workloads/trainings/$ID"
