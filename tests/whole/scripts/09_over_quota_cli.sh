#!/usr/bin/env bash
# The same by the command line.
set -euo pipefail
runai config set --cp-url "$BASE"
runai login user -u "$EMAIL" -p "$PASSWORD"
running() { # NAMES
  until [ "$(runai workload list -A --json | jq -r '[.[] | select(.phase == "Running") | .name] | sort | join(" ")')" = "$1" ]; do
    sleep 0.1
  done
}
runai training submit a1 -i runai.jfrog.io/demo/quickstart -g 1 -p team-a
runai training submit a2 -i runai.jfrog.io/demo/quickstart -g 2 -p team-a
runai training submit b1 -i runai.jfrog.io/demo/quickstart -g 1 -p team-b
running "a1 a2 b1"
runai project list
runai training submit b2 -i runai.jfrog.io/demo/quickstart -g 1 -p team-b
running "a2 b1 b2"
runai workload list -A
prorata explain a1 -p team-a
runai training delete a1 a2 -p team-a -y
runai training delete b1 b2 -p team-b -y
