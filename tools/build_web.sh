#!/usr/bin/env bash
# Bundles the dashboard into a folder: tools/build_web.sh OUT. Installs the pinned packages when the lock file is newer
# than what is installed.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/../web"
exec 9>>.install.lock
flock 9
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    npm ci --no-audit --no-fund --loglevel=error >&2
    touch node_modules/.package-lock.json
fi
node build.mjs "$out"
