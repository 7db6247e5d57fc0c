#!/usr/bin/env bash
# A model behind an address with one to three replicas, by curl; then an update and a refusal.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
ID=$(api "$BASE/api/v1/workloads/inferences" -d '{
  "name": "inference1",
  "projectId": "'"$PROJECT"'",
  "clusterId": "'"$CLUSTER"'",
  "spec": {
    "image": "runai.jfrog.io/demo/example-triton-server",
    "servingPort": {"protocol": "http", "container": 8000},
    "autoscaling": {"minReplicas": 1, "maxReplicas": 3, "metric": "throughput", "metricThreshold": 100, "initialReplicas": 1},
    "compute": {"cpuCoreRequest": 0.1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5, "gpuDevicesRequest": 1}
  }
}' | jq -r .workloadId)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$ID" | jq -r '"\(.type) \(.priority) \(.category)"'
api "$BASE/api/v1/workloads/inferences/$ID/metrics?metricType=THROUGHPUT&numberOfSamples=2&start=$(date -u -d '-1 hour' +%FT%TZ)&end=$(date -u +%FT%TZ)" |
  jq -r '"metrics: \(.measurements | type)"'
api -X PATCH "$BASE/api/v1/workloads/inferences/$ID" -d '{"spec": {"autoscaling": {"maxReplicas": 5}}}' |
  jq -r '"max replicas \(.spec.autoscaling.maxReplicas)"'
api -X PATCH "$BASE/api/v1/workloads/inferences/$ID" -d '{"spec": {"servingPort": {"container": 9000}}}' |
  jq -r '"refused: \(.message)"' || true
api -X DELETE "$BASE/api/v1/workloads/inferences/$ID"
