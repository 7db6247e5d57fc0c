#!/usr/bin/env bash
# A department with a quota, a project in it, a change, and both deleted, by curl.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r '.[0].uuid')
POOL=$(api "$BASE/api/v1/node-pools" | jq -r '.nodepools[0].id')
gpus() { echo '{"nodePool": {"id": "'"$POOL"'"}, "gpu": {"deserved": '"$1"', "limit": null, "overQuotaWeight": 2}, "cpu": {"deserved": null, "units": "Millicores"}, "memory": {"deserved": null, "units": "Mib"}}'; }
DEPARTMENT=$(api "$BASE/api/v1/org-unit/departments" -d '{
  "name": "robotics", "clusterId": "'"$CLUSTER"'", "description": "arms and legs",
  "resources": ['"$(gpus 2)"']
}' | jq -r .id)
PROJECT=$(api "$BASE/api/v1/org-unit/projects" -d '{
  "name": "grippers", "clusterId": "'"$CLUSTER"'", "parentId": "'"$DEPARTMENT"'",
  "resources": ['"$(gpus 1)"']
}' | jq -r .id)
until [ "$(api "$BASE/api/v1/org-unit/projects/$PROJECT" | jq -r .status.phase)" = Ready ]; do sleep 0.1; done
api "$BASE/api/v1/org-unit/projects?filterBy=name==grippers" |
  jq -r '.projects[0] | "\(.name) in \(.parent.name), namespace \(.status.namespace), \(.resources[0].gpu.deserved) GPU"'
api -X PATCH "$BASE/api/v1/org-unit/projects/$PROJECT/resources" -d "[$(gpus 2)]" >changed.json
api "$BASE/api/v1/org-unit/projects/$PROJECT" | jq -r '"now \(.resources[0].gpu.deserved) GPUs"'
api "$BASE/api/v1/org-unit/projects" -d '{"name": "grippers", "clusterId": "'"$CLUSTER"'", "parentId": "'"$DEPARTMENT"'", "resources": ['"$(gpus 1)"']}' |
  jq -r '"\(.code): \(.message)"' || true
api "$BASE/api/v1/org-unit/projects" -d '{"name": "Not A Name", "clusterId": "'"$CLUSTER"'", "parentId": "'"$DEPARTMENT"'", "resources": ['"$(gpus 1)"']}' |
  jq -r '"\(.code): \(.message)"' || true
api -X DELETE "$BASE/api/v1/org-unit/projects/$PROJECT"
while curl -sS --fail -o gone.json -H "Authorization: Bearer $TOKEN" "$BASE/api/v1/org-unit/projects/$PROJECT" 2>gone.txt; do sleep 0.1; done
api -X DELETE "$BASE/api/v1/org-unit/departments/$DEPARTMENT"
api "$BASE/api/v1/org-unit/departments/count?filterBy=name==robotics" | jq -r '"\(.count) departments left"'
