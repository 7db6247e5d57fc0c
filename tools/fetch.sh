#!/usr/bin/env bash
# Installs what tests fetch from npm and PyPI, so that nothing is fetched while they run: tools/fetch.sh
set -euo pipefail
cd "$(dirname "$0")/.."
tools/npm_packages.sh web
tools/npm_packages.sh tests/openid
for tool in ruff aiosmtpd schemathesis runapy; do
    tools/python_tool.sh "$tool" >/dev/null
done
