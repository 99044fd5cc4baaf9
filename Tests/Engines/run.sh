#!/usr/bin/env bash
# Runs run.py with the drivers of browser engines that Python has, in a folder of their own.
#
# usage: Tests/Engines/run.sh BUILD_DIR BIN_DIR [chromium|firefox|webkitgtk|wpe …]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
drivers=$1/engines
shift
if ! "$drivers/bin/python" -c 'import selenium, marionette_driver' 2>/dev/null; then
    rm -rf "$drivers"
    python3 -m venv "$drivers"
    "$drivers/bin/pip" install --quiet selenium marionette_driver
fi
# WebKitGTK has no mode without a screen.
if command -v xvfb-run >/dev/null; then exec xvfb-run -a "$drivers/bin/python" "$here/run.py" "$@"; fi
exec "$drivers/bin/python" "$here/run.py" "$@"
