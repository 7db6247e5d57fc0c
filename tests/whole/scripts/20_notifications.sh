#!/usr/bin/env bash
# A channel, a subscription of my own, switched off and on, and all of it removed.
set -euo pipefail

TOKEN=$(curl -sS --fail-with-body "$BASE/api/v1/token" -H "Content-Type: application/json" \
  -d "$(jq -n '{grantType: "password", username: env.EMAIL, password: env.PASSWORD}')" | jq -r .accessToken)
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; }
api "$BASE/api/v1/notification-channels" -d '{
  "type": "email",
  "config": {"smtpHost": "mail.lab.example", "smtpPort": 587, "authType": "auth_login", "username": "prorata",
    "password": "a-password", "from": "gpu@lab.example", "fromDisplayName": "GPU cluster"}
}'
api "$BASE/api/v1/notification-channels" | jq -r '.[] | "channel \(.name) of type \(.type)"'
api "$BASE/api/v1/notification-channels/email" | jq -r '"the password is shown: \(tostring | contains("a-password"))"'
api "$BASE/api/v1/notification-types" | jq -r '"\(length > 10) many kinds of events"'
ID=$(api "$BASE/api/v1/subscriptions" -d '{
  "events": [{"category": "Workload status change", "types": ["Failed", "Completed"]}], "channels": ["email"]
}' | jq -r .id)
api "$BASE/api/v1/subscriptions" | jq -r '.[] | "subscribed to \(.events[0].types | join(" ")) by \(.channels | join(" "))"'
api "$BASE/api/v1/subscriptions" -d '{"events": [{"category": "Weather", "types": ["Rain"]}], "channels": ["email"]}' |
  jq -r '"\(.code): \(.message)"' || true
api -X PATCH "$BASE/api/v1/notification-state" -d '{"email": {"enabled": false}}' | jq -c .
api -X PATCH "$BASE/api/v1/notification-state" -d '{"email": {"enabled": true}}' | jq -c .
api -X DELETE "$BASE/api/v1/subscriptions/$ID"
api -X DELETE "$BASE/api/v1/notification-channels/email"
