#!/usr/bin/env bash
# Replays the requests that GCDWebServer recorded, against our server in its dialect: folders, a movie by ranges, a form, uploads.
#
# usage: Tests/recorded.sh CHECKOUT     a working copy of swisspol/GCDWebServer; nothing in it is changed
set -euo pipefail
pairs=$(cd "$1/Tests" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The recorded dates are those of the archive; folders and the movie had the first second of 2014.
python3 - "$pairs/Payload.zip" "$work" <<'PY'
import os, struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    for entry in archive.infolist():
        path = archive.extract(entry, sys.argv[2])
        at, extra = 0, entry.extra
        while at + 4 <= len(extra):
            kind, size = struct.unpack_from("<HH", extra, at)
            # "UX": the times of access and modification, in seconds since 1970.
            if kind == 0x5855:
                os.utime(path, struct.unpack_from("<ii", extra, at + 4))
            at += 4 + size
PY
payload=$(find "$work" -name Copy.txt -printf '%h\n' | head -n 1)
cp -a "$payload" "$work/uploads"
mkdir "$work/movie"
cp "$pairs/Sample-Movie.mp4" "$work/movie"
touch -d '2014-01-01 00:00:00 UTC' "$work/movie/Sample-Movie.mp4"
find "$work" -type d -exec touch -d '2014-01-01 00:00:00 UTC' {} +
export PATCHLINE_RECORDED="$pairs/WebServer:$payload:compatible $pairs/WebServer-Sample-Movie:$work/movie:compatible $pairs/HTMLForm:$payload:form $pairs/WebUploader:$work/uploads:uploader"
"$(dirname "$0")/../.ci/test" --filter RecordedPairsTests
