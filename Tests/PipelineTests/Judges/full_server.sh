#!/usr/bin/env bash
# usage: full_server.sh PATCHSRV SITE RELEASE TOKEN FOLDER PYTHON
#
# In a mount namespace of its own, on a file system that fills up: a copy of SITE is served, RELEASE is brought to it over the
# API with the token in the file TOKEN, and what else a server does is tried. Then there is room, and the same is done again.
# Prints `-- STEP`, what was said, and `-> CODE` for each; of an answer over HTTP CODE is its status.
set -uo pipefail
if [ "${IN_NAMESPACE:-}" != 1 ]; then
    IN_NAMESPACE=1 exec unshare --user --map-root-user --mount --propagation private "$0" "$@"
fi
patchsrv=$1 site=$2 release=$3 token=$(cat "$4") folder=$5 python=$6
mkdir -p "$folder"
mount -t tmpfs -o size=4m tmpfs "$folder" || exit 1
cp -a "$site" "$folder/site"
data="$folder/site"
app=$(basename "$data"/tree/*)
temp=$(dirname "$folder")

step() {
    echo "-- $1"
    shift
    "$patchsrv" "$@" --data "$data" 2>&1
    echo "-> $?"
}

# STEP METHOD PATH [curl's options]
ask() {
    echo "-- $1"
    local method=$2 path=$3
    shift 3
    curl -sS -X "$method" -H "Authorization: Bearer $token" -w '\n-> %{http_code}\n' "$@" "$url/api/v1$path"
}

json=(-H 'Content-Type: application/json')

start() {
    rm -f "$temp/served"
    "$patchsrv" serve --data "$data" --port 0 --operators-port 0 > "$temp/served" 2>&1 &
    server=$!
    for _ in $(seq 15000); do grep -qs 'listening on' "$temp/served" && break; kill -0 $server || break; sleep 0.02; done
    devices=$(sed -n 's/.*listening on //p' "$temp/served")
    url=$(sed -n 's/.*operators on //p' "$temp/served")
}

stop() {
    kill $server
    wait $server
    local code=$?
    echo "-- $1"
    cat "$temp/served"
    echo "-> $code"
}

# No block is left, in the middle of the last file either.
fill() {
    cat /dev/zero > "$folder/filler" 2>/dev/null
}

everything() {
    local parts="/apps/$app/uploads/$upload/parts"
    ask "a part $1" PATCH "$parts/$part" -H "Upload-Offset: $("$python" -c 'import json,sys; print(json.load(sys.stdin)["offset"])' \
        < <(curl -sS -H "Authorization: Bearer $token" "$url/api/v1$parts/$part"))" --data-binary "@$temp/rest"
    ask "a token over HTTP $1" POST /tokens "${json[@]}" -d '{"name":"over HTTP '"$1"'","grants":["*=viewer"],"days":1}'
    ask "a choice over HTTP $1" POST "/apps/$app/channels/production/answers" "${json[@]}" -d '{"patchId":"web","hold":true}'
    step "token new $1" token new "here $1" --grant '*=viewer'
    step "dial $1" dial --channel production --pause web
    step "publish $1" publish "$release"
    step "gc $1" gc --keep 0 --protect 0h
    step "export $1" export "$folder/www$2"
}

start
# The largest part, of which the first half comes before the disk is full.
"$python" - "$url" "$token" "$release" "$temp" > "$temp/begun" <<'PY'
import hashlib, json, os, sys, urllib.request
url, token, folder, temp = sys.argv[1:]
read = lambda name: json.load(open(os.path.join(folder, name)))
def ask(method, path, body, **fields):
    asked = urllib.request.Request(url + '/api/v1' + path, data=body, method=method, headers={
        'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json', **fields})
    return json.load(urllib.request.urlopen(asked, timeout=300))
base = f"/apps/{read('release.json')['app']}/uploads"
state = ask('POST', base, json.dumps(dict(release=read('release.json'), role=read('role.json'))).encode())
parts = {}
for place, _, names in os.walk(folder):
    for name in names:
        part = open(os.path.join(place, name), 'rb').read()
        parts[hashlib.sha256(part).hexdigest()] = part
while True:
    need = max(state['needs'], key=lambda need: need['size'])
    if need['size'] > 20000:
        break
    for one in state['needs']:
        ask('PATCH', f"{base}/{state['upload']}/parts/{one['sha256']}", parts[one['sha256']], **{'Upload-Offset': '0'})
    state = ask('GET', f"{base}/{state['upload']}", None)
part = parts[need['sha256']]
ask('PATCH', f"{base}/{state['upload']}/parts/{need['sha256']}", part[:4096], **{'Upload-Offset': '0'})
open(os.path.join(temp, 'rest'), 'wb').write(part[4096:])
print(state['upload'], need['sha256'])
PY
read -r upload part < "$temp/begun"
fill
everything "on a full disk" 1
ask "the part's offset" GET "/apps/$app/uploads/$upload/parts/$part"
echo "-- a device on a full disk"; curl -sS -o /dev/null -w '-> %{http_code}\n' "$devices/$app/metadata/timestamp.json"
step "check on a full disk" check
stop "stopped on a full disk"
start
echo "-- a device after a start on a full disk"; curl -sS -o /dev/null -w '-> %{http_code}\n' "$devices/$app/metadata/timestamp.json"
stop "started and stopped on a full disk"
rm "$folder/filler"
start
everything "with room" 2
step "check with room" check
step "audit verify" audit verify
stop "stopped with room"
