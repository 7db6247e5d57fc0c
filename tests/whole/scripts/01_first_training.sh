#!/usr/bin/env bash
# A first training with one GPU, by curl, as in the quick start "Run your first training".
set -euo pipefail

# Step 1: a token.
TOKEN=$(curl --silent --show-error --fail-with-body --location "$BASE/api/v1/token" \
  --header 'Accept: application/json' \
  --header 'Content-Type: application/json' \
  --data-raw "{\"grantType\": \"password\", \"username\": \"$EMAIL\", \"password\": \"$PASSWORD\"}" | jq -r .accessToken)

# Step 2: where it runs.
CLUSTER_UUID=$(curl -sS --fail-with-body --location "$BASE/api/v1/clusters" \
  --header "Authorization: Bearer $TOKEN" | jq -r '.[0].uuid')
PROJECT_ID=$(curl -sS --fail-with-body --location "$BASE/api/v1/org-unit/projects" \
  --header "Authorization: Bearer $TOKEN" | jq -r '.projects[] | select(.name == "team-a") | .id')

# Step 3: the training.
WORKLOAD_ID=$(curl -sS --fail-with-body --location "$BASE/api/v1/workloads/trainings" \
  --header 'Content-Type: application/json' \
  --header "Authorization: Bearer $TOKEN" \
  --data '{
  "name": "first-training",
  "projectId": "'"$PROJECT_ID"'",
  "clusterId": "'"$CLUSTER_UUID"'",
  "spec": {
    "image": "runai.jfrog.io/demo/quickstart",
    "compute": {
      "gpuDevicesRequest": 1
    }
  }
}' | jq -r .workloadId)

# Step 4: how it does.
phase() {
  curl -sS --fail-with-body --location "$BASE/api/v1/workloads/$WORKLOAD_ID" --header "Authorization: Bearer $TOKEN" |
    jq -r .phase
}
until [ "$(phase)" = Running ]; do sleep 0.1; done
curl -sS --fail-with-body --location "$BASE/api/v1/workloads" --header "Authorization: Bearer $TOKEN" --data '' --get |
  jq -r '.workloads[] | "\(.name) \(.type) \(.phase) \(.projectName) \(.allocatedResources.gpu)"'

# Clean up.
curl -sS --fail-with-body --location --request DELETE "$BASE/api/v1/workloads/trainings/$WORKLOAD_ID" \
  --header "Authorization: Bearer $TOKEN"
