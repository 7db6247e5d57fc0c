#!/usr/bin/env bash
# Lists of workloads: filters, search, order, pages, a count; and what is refused.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
for i in 1 2 3 4 5; do
  api "$BASE/api/v1/workloads/trainings" -d '{"name": "run-'"$i"'", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
    "spec": {"image": "x", "compute": {"gpuDevicesRequest": 0}}}' >run-$i.json
done
list() { api --get "$BASE/api/v1/workloads" "$@"; }
names() { jq -r '[.workloads[].name] | join(" ")'; }
echo "newest first: $(list -d sortBy=createdAt -d sortOrder=desc | names)"
echo "by name: $(list --data-urlencode 'filterBy=name==run-2,type==Training' | names)"
echo "not by name: $(list --data-urlencode 'filterBy=name!=run-2' -d sortBy=name | names)"
echo "begins: $(list --data-urlencode 'filterBy=name=^run-' -d sortBy=name -d limit=2 | names)"
echo "search: $(list -d search=UN-3 | names)"
NEXT=0
while [ "$NEXT" != null ]; do
  PAGE=$(list -d sortBy=name -d limit=2 -d offset="$NEXT")
  echo "page at $NEXT: $(names <<<"$PAGE")"
  NEXT=$(jq .next <<<"$PAGE")
done
echo "count: $(api --get "$BASE/api/v1/workloads/count" --data-urlencode 'filterBy=projectName==team-a' | jq .count)"
list --data-urlencode 'filterBy=colour==red' | jq -r '"\(.code): \(.message)"' || true
list -d sortBy=colour | jq -r '"\(.code): \(.message)"' || true
list -d limit=-1 | jq -r '"\(.code): \(.message)"' || true
for i in 1 2 3 4 5; do api -X DELETE "$BASE/api/v1/workloads/trainings/$(jq -r .workloadId run-$i.json)"; done
