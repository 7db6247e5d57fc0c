#!/usr/bin/env bash
# An NFS share as a data source, and a training that mounts it.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
SOURCE=$(api "$BASE/api/v1/asset/datasource/nfs" -d '{
  "meta": {"name": "images", "scope": "project", "projectId": '"$PROJECT"'},
  "spec": {"server": "nas.lab.example", "path": "/exports/images", "mountPath": "/data/images", "readOnly": true}
}' | jq -r .meta.id)
api "$BASE/api/v1/asset/datasource" | jq -r '.entries[] | "\(.meta.kind) \(.meta.name) for a \(.meta.scope)"'
ID=$(api "$BASE/api/v1/workloads/trainings" -d '{
  "name": "with-images", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
  "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}},
  "assets": {"datasources": [{"id": "'"$SOURCE"'"}]}
}' | jq -r .workloadId)
api "$BASE/api/v1/workloads/trainings/$ID" | jq -r '.spec.storage.nfs[0] | "\(.server):\(.path) at \(.mountPath)"'
api -X DELETE "$BASE/api/v1/workloads/trainings/$ID"
api -X DELETE "$BASE/api/v1/asset/datasource/nfs/$SOURCE" >answer.json
