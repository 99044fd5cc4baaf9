#!/bin/sh
# The worst documents that each limit allows: how much processor time reading one takes, and how much memory the process had at most.
# A few minutes; about 200 MB below the folder for temporary files.
#
# usage: documents.sh [ROW]…        the rows with these numbers, else all
set -eu
cd "$(dirname "$0")/.."
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
PATCHLINE_BENCH=1 swift build --quiet -c release --scratch-path "${PATCHLINE_BUILD_DOCUMENTS:-.build/documents}" --product documents >&2
documents=${PATCHLINE_BUILD_DOCUMENTS:-.build/documents}/release/documents
echo '| document | bytes | it is | CPU seconds | MB |'
echo '|---|---:|---|---:|---:|'
for row in ${*:-$($documents | cut -f1)}; do
    $documents make "$row" >"$build/document"
    $documents read "$row" <"$build/document"
done
