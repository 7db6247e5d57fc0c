#!/usr/bin/env bash
# An access key for a robot: made, used for a token, renewed, deleted.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
KEY=$(api "$BASE/api/v1/access-keys" -d '{"name": "nightly-robot"}')
ID=$(jq -r .id <<<"$KEY")
grant() { # CLIENT-ID SECRET
  curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
    -d '{"grantType": "client_credentials", "clientId": "'"$1"'", "clientSecret": "'"$2"'"}'
}
ROBOT=$(grant "$(jq -r .clientId <<<"$KEY")" "$(jq -r .clientSecret <<<"$KEY")" | jq -r .accessToken)
curl -sS --fail-with-body -H "Authorization: Bearer $ROBOT" "$BASE/api/v1/org-unit/projects/count" | jq -r '"the robot sees \(.count) projects"'
NEW=$(api -X POST "$BASE/api/v1/access-keys/$ID/secret" | jq -r .clientSecret)
grant "$(jq -r .clientId <<<"$KEY")" "$(jq -r .clientSecret <<<"$KEY")" | jq -r '"the old secret: \(.code)"' || true
grant "$(jq -r .clientId <<<"$KEY")" "$NEW" | jq -r '"the new secret: \(.accessToken | length > 20)"'
api "$BASE/api/v1/access-keys" | jq -r '"keys: \([.accessKeys[].name] | join(" ")); a secret is shown: \(any(.accessKeys[]; has("clientSecret")))"'
api -X DELETE "$BASE/api/v1/access-keys/$ID"
curl -sS -o answer.json -w 'after its key is gone: %{http_code}\n' -H "Authorization: Bearer $ROBOT" "$BASE/api/v1/workloads"
