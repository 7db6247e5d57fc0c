#!/usr/bin/env bash
# A policy of the whole tenant: it fills in what is missing and refuses what is too much.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
api -X PUT "$BASE/api/v2/policy/trainings" -d '{
  "meta": {"name": "house rules", "scope": "tenant"},
  "policy": {
    "defaults": {"environmentVariables": {"instances": [{"name": "HTTP_PROXY", "value": "http://proxy:3128"}]}},
    "rules": {"compute": {"gpuDevicesRequest": {"max": 2}}}
  }
}' | jq -r '"policy of the \(.meta.scope)"'
submit() {
  api "$BASE/api/v1/workloads/trainings" -d '{"name": "'"$1"'", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {"image": "x", "compute": {"gpuDevicesRequest": '"$2"'}}}'
}
submit too-many 3 | jq -r '"\(.code): \(.message)"' || true
ID=$(submit enough 1 | jq -r .workloadId)
api "$BASE/api/v1/workloads/trainings/$ID" | jq -r '.spec.environmentVariables[] | "\(.name)=\(.value)"'
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
runai training submit too-many -p team-a -i x -g 3 2>&1 || echo "exit status $?"
runai policy effective trainings --project team-a
api -X DELETE "$BASE/api/v1/workloads/trainings/$ID"
api -X DELETE "$BASE/api/v2/policy/trainings?scope=tenant"
api "$BASE/api/v2/policy" | jq -r '"policies left: \([.policies[] | select(.meta.scope != "system")] | length)"'
