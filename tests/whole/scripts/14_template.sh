#!/usr/bin/env bash
# A template from an environment and a compute resource, and a training made from it.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
CLUSTER=$(api "$BASE/api/v1/clusters" | jq -r ".[0].uuid")
PROJECT=$(api "$BASE/api/v1/org-unit/projects?filterBy=name==team-a" | jq -r ".projects[0].id")
ENVIRONMENT=$(api "$BASE/api/v1/asset/environment" -d '{
  "meta": {"name": "quick-start", "scope": "tenant"},
  "spec": {"image": "runai.jfrog.io/demo/quickstart", "environmentVariables": [{"name": "EPOCHS", "value": "3"}]}
}' | jq -r .meta.id)
COMPUTE=$(api "$BASE/api/v1/asset/compute" -d '{
  "meta": {"name": "our-one-gpu", "scope": "tenant"},
  "spec": {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"}
}' | jq -r .meta.id)
TEMPLATE=$(api "$BASE/api/v1/workload-templates/trainings" -d '{
  "meta": {"name": "our-training", "scopeType": "project", "scopeId": "'"$PROJECT"'"},
  "spec": {"environmentVariables": [{"name": "SEED", "value": "1"}]},
  "assets": {"environment": "'"$ENVIRONMENT"'", "compute": "'"$COMPUTE"'"}
}' | jq -r .meta.id)
api "$BASE/api/v1/workload-templates/$TEMPLATE" | jq -r '"runnable: \(.runnable.isRunnable)"'
ID=$(api "$BASE/api/v1/workloads/trainings" -d '{
  "name": "from-template", "projectId": "'"$PROJECT"'", "clusterId": "'"$CLUSTER"'", "templateId": "'"$TEMPLATE"'",
  "spec": {"environmentVariables": [{"name": "SEED", "value": "2"}]}
}' | jq -r .workloadId)
api "$BASE/api/v1/workloads/trainings/$ID" |
  jq -r '.spec | "\(.image) \(.compute.gpuDevicesRequest) GPU \([.environmentVariables[] | "\(.name)=\(.value)"] | sort | join(" "))"'
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
runai training submit from-template-too -p team-a --template our-training
runai training submit from-assets -p team-a --environment quick-start --compute our-one-gpu
runai template list
runai training delete from-template from-template-too from-assets -p team-a -y
api -X DELETE "$BASE/api/v1/workload-templates/trainings/$TEMPLATE" >answer.json
api -X DELETE "$BASE/api/v1/asset/compute/$COMPUTE" >answer.json
api -X DELETE "$BASE/api/v1/asset/environment/$ENVIRONMENT" >answer.json
