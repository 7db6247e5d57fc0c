#!/usr/bin/env bash
# A Jupyter workspace with an address, by curl, as in the quick start "Run your first workspace".
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
ID=$(api "$BASE/api/v1/workloads/workspaces" -d '{
  "name": "workspace-name",
  "projectId": "'"$PROJECT"'",
  "clusterId": "'"$CLUSTER"'",
  "spec": {
    "command": "start-notebook.sh",
    "args": "--NotebookApp.base_url=/${RUNAI_PROJECT}/${RUNAI_JOB_NAME} --NotebookApp.token='"''"'",
    "image": "jupyter/scipy-notebook",
    "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 1},
    "exposedUrls": [{"container": 8888, "toolType": "jupyter-notebook", "toolName": "Jupyter"}]
  }
}' | jq -r .workloadId)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$ID" | jq -r '"\(.type) \(.category) \(.priority) from \(.submittedBy)"'
api "$BASE/api/v1/workloads/workspaces/$ID" | jq -r '.spec.exposedUrls[0] | "\(.toolType) at \(.container)"'
api "$BASE/api/v1/workloads/$ID/pods" | jq -r '.pods[0] | "pod \(.currentPhase // .k8sPhase)"'
api -X DELETE "$BASE/api/v1/workloads/workspaces/$ID"
