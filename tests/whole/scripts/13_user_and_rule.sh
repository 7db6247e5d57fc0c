#!/usr/bin/env bash
# A user with a role in one project: what she sees and may do, and what not.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r '.projects[0].id')
OTHER=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-b" | jq -r '.projects[0].id')
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r '.[0].uuid')
USER_JSON=$(api "$BASE/api/v1/users" -d '{"email": "jane@lab.example", "resetPassword": false}')
USER_ID=$(jq -r .id <<<"$USER_JSON")
ROLE=$(api "$BASE/api/v1/authorization/roles" | jq -r '.[] | select(.name == "L1 researcher") | .id')
api "$BASE/api/v1/authorization/access-rules" -d '{
  "subjectId": "jane@lab.example", "subjectType": "user", "roleId": '"$ROLE"', "scopeId": "'"$PROJECT"'", "scopeType": "project"
}' | jq -r '"\(.subjectId) is \(.roleName) in \(.scopeName)"'
JANE=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d '{"grantType": "password", "username": "jane@lab.example", "password": "'"$(jq -r .tempPassword <<<"$USER_JSON")"'"}' | jq -r .accessToken)
as_jane() { curl -sS -H "Authorization: Bearer $JANE" -H "Content-Type: application/json" "$@"; }
as_jane "$BASE/api/v1/org-unit/projects" | jq -r '"she sees \([.projects[].name] | join(" "))"'
submit() { as_jane "$BASE/api/v1/workloads/trainings" -d '{"name": "janes", "projectId": "'"$1"'", "clusterId": "'"$CLUSTER"'", "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}}}'; }
ID=$(submit "$PROJECT" | jq -r .workloadId)
as_jane "$BASE/api/v1/workloads/$ID" | jq -r '"hers, by \(.submittedBy)"'
submit "$OTHER" | jq -r '"in team-b: \(.code) \(.message)"'
as_jane "$BASE/api/v1/users" | jq -r '"the users: \(.code)"'
as_jane --fail-with-body -X DELETE "$BASE/api/v1/workloads/trainings/$ID"
api -X DELETE "$BASE/api/v1/users/$USER_ID"
as_jane -o answer.json -w 'after she is gone: %{http_code}\n' "$BASE/api/v1/workloads"
