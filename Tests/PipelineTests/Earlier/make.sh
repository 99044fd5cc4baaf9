#!/usr/bin/env bash
# Packs a server's folder, its backup and a device's store that the programs in BINARIES made: make.sh BINARIES ARCHIVE
set -euo pipefail
export PATH="$(cd "$1" && pwd):$PATH"
archive=$(realpath -m "$2")
work=$(mktemp -d)
trap 'kill ${server:-} 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
app=com.example.earlier

source_of() {
    mkdir -p "source$1/scripts" "source$1/web/app"
    cat >"source$1/release.yaml" <<YAML
app: $app
channel: production
patches:
  - {id: fix, kind: script, version: "$1", file: scripts/fix.js}
  - {id: web, kind: bundle, version: $1.0.0, folder: web, index: index.html}
YAML
    echo "// the fix of release $1" >"source$1/scripts/fix.js"
    echo "<!doctype html><title>release $1</title>" >"source$1/web/index.html"
    for line in $(seq 40); do echo "export const value$line = $line; // unchanged"; done >"source$1/web/app/main.js"
    echo "export const release = $1;" >>"source$1/web/app/main.js"
}

# Root and targets expire in 2055, the releases in 2036. What the server signs expires in a week: it signs again.
patchsign init --app $app --keys keys --channel production --unencrypted-keys --bits 2048 --no-recovery-key --at 2054-01-01T00:00:00Z
# A third one is for the programs that read the archive.
for number in 1 2; do
    source_of $number
    previous=$((number - 1))
    patchsign release source$number --keys keys --output release$number --expires 3650d $([ $number = 1 ] || echo --previous release$previous)
done
data=(--data site)
patchsrv init "${data[@]}" --trust keys --online-key keys/online.key
patchsrv publish release1 "${data[@]}" --optimize --label First --notes 'The first one.'
patchsrv token new everything --grant '*=admin' --expires 366d "${data[@]}" >/dev/null
patchsrv token new limited --grant "$app/production=publisher" --expires 366d "${data[@]}" >/dev/null
patchsrv parameters set --channel production banner=hello limit=20 "${data[@]}"
patchsrv answer set --channel production --user alice --patch web --hold "${data[@]}"

serve() {
    patchsrv serve "${data[@]}" --port 0 --operators-port 0 >served 2>&1 &
    server=$!
    until grep -q 'listening on' served; do kill -0 $server; sleep 0.05; done
    url=$(sed -n 's/.*listening on //p' served)
}
stop() { kill $server; wait $server; }

serve
store=(--store store)
patchsync init "${store[@]}" --root keys/root.json --server "$url"
patchsync sync "${store[@]}"
patchsync switch "${store[@]}"
patchsync confirm "${store[@]}" --launch "$(patchsync status "${store[@]}" --json | grep -o '"launch":"[0-9a-f]*"' | cut -d'"' -f4)"
stop
# Its second release is there, and on trial.
patchsrv publish release2 "${data[@]}" --optimize
patchsrv dial --channel production --rollout fix=60% "${data[@]}"
serve
sed -i "s|\"server\":\"[^\"]*\"|\"server\":\"$url\"|" store/config.json
patchsync set "${store[@]}" --data Region=eu --keep 2
patchsync sync "${store[@]}"
patchsync switch "${store[@]}"
stop
patchsrv check "${data[@]}"
patchsync verify "${store[@]}" --entries
patchsync status "${store[@]}"
patchsrv backup backup "${data[@]}"
source_of 3
# The first format of state.json, with its selections whole: a program that wrote it is older than the first archive.
python3 - store/channels/production >state-v1.json <<'PYTHON'
import json, sys

def whole(value):
    if not isinstance(value, dict): return value
    if "selection" not in value: return {key: whole(inner) for key, inner in value.items()}
    with open(f"{sys.argv[1]}/selections/{value.pop('selection')}.json") as file: selection = json.load(file)
    del selection["format"]
    return value | selection

with open(f"{sys.argv[1]}/state.json") as file: state = json.load(file)
print(json.dumps(whole(state) | {"format": "patchline-state-v1"}, sort_keys=True, separators=(",", ":")), end="")
PYTHON
tar --owner=0 --group=0 --numeric-owner --exclude='records.sqlite-*' -cJf "$archive" keys source3 release2 site backup store state-v1.json
