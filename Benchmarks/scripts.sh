#!/bin/sh
# What script patches cost beside calls without one and beside the bare engine. A minute, and two to build.
#
# usage: scripts.sh
set -eu
cd "$(dirname "$0")/.."
build=${PATCHLINE_BUILD_SCRIPTS:-.build/scripts}
PATCHLINE_BENCH=1 swift build --quiet -c release --scratch-path "$build" --product scripts >&2
echo '| what | time |'
echo '|---|---:|'
"$build/release/scripts" calls
for count in 1 10 100; do "$build/release/scripts" install $count; done
