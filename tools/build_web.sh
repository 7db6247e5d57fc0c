#!/usr/bin/env bash
# Bundles the dashboard into a folder: tools/build_web.sh OUT. Installs the pinned packages first.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
tools/npm_packages.sh web
cd web
exec 9>>.install.lock
flock 9
node build.mjs "$out"
