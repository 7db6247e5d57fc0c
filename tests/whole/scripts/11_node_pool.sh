#!/usr/bin/env bash
# A node pool made by a label: the node moves, a project gets a quota there, a training runs in it, all is undone.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
phase() { api "$BASE/api/v1/workloads/$1" | jq -r .phase; }
NODE=$(api "$BASE/api/v1/nodes?sortBy=name" | jq -r '.nodes[0].name')
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
runai node label "$NODE" node-model=dgx-2
POOL=$(api "$BASE/api/v1/node-pools" -d '{"name": "dgx-2", "clusterId": "'"$CLUSTER"'", "labelKey": "node-model", "labelValue": "dgx-2"}' | jq -r .id)
until [ "$(api "$BASE/api/v1/nodes?filterBy=nodePool==dgx-2" | jq '.nodes | length')" = 1 ]; do sleep 0.1; done
runai nodepool list
ID=$(api "$BASE/api/v1/workloads/trainings" -d '{
  "name": "in-the-pool", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'",
  "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}, "nodePools": ["dgx-2", "default"]}
}' | jq -r .workloadId)
until [ "$(phase "$ID")" = Running ]; do sleep 0.1; done
api "$BASE/api/v1/workloads/$ID" | jq -r '"runs in \(.currentNodePools | join(",")) of \(.requestedNodePools | join(","))"'
api -X DELETE "$BASE/api/v1/workloads/trainings/$ID"
runai node label "$NODE" node-model-
until api -X DELETE "$BASE/api/v1/node-pools/$POOL" >answer.json; do sleep 0.1; done
until [ "$(api "$BASE/api/v1/nodes?filterBy=nodePool==default" | jq '.nodes | length')" = 2 ]; do sleep 0.1; done
api "$BASE/api/v1/node-pools" | jq -r '"pools: \([.nodepools[].name] | join(" "))"'
