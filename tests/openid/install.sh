#!/usr/bin/env bash
# Installs the provider that these tests sign in at, as its lock file pins it, where it is not there yet.
set -euo pipefail
cd "$(dirname "$0")"
exec 9>.install.lock
flock 9
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --no-audit --no-fund --loglevel=error >&2
    touch node_modules/.package-lock.json
fi
