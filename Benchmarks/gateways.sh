#!/usr/bin/env bash
# What the wires of other systems cost: a release with and without Meteor's gateway or JSPatch's packages (signing, publishing, bytes
# of the tree and of an export), and requests a second of `patchsrv serve` for such clients beside nginx on the same files, one
# core for the server and one for the load. Prints the tables of a page in Benchmarks.
#
# usage: Benchmarks/gateways.sh BIN_DIR       ROUNDS=5 SECONDS_EACH=3 CONNECTIONS=16 FILES=400 SERVER_CORE=0 LOAD_CORE=1
#        PARTS='meteor jspatch'
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH:/usr/sbin"
rounds=${ROUNDS:-5}
seconds_each=${SECONDS_EACH:-3}
connections=${CONNECTIONS:-16}
server_core=${SERVER_CORE:-0}
load_core=${LOAD_CORE:-1}
parts=${PARTS:-meteor jspatch}
app=bench.gateways
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
. "$here/measure.sh"
for tool in nginx wrk curl taskset openssl python3; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install nginx-light wrk curl util-linux openssl python3"
done
pids=()
end_all() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    clean_up
}
trap end_all EXIT

bytes() { du -sb --apparent-size "$1" | cut -f 1; }

# release CASE APP_DIR OPTION…: signs, publishes and exports APP_DIR in each round; times in $work/STEP.CASE, bytes beside them.
release() {
    local case=$1 folder=$2 round secret
    shift 2
    for round in $(seq "$rounds"); do
        rm -rf "$work/keys" "$work/release" "$work/server" "$work/static.$case"
        head -c 18 /dev/urandom | base64 >"$work/passphrase"
        secret=(--passphrase-file "$work/passphrase")
        quietly patchsign init --app $app --keys "$work/keys" --bits 2048 "${secret[@]}"
        measure "sign.$case" patchsign release "$folder" --output "$work/release" --keys "$work/keys" "${secret[@]}" "$@"
        quietly patchsrv init --data "$work/server" --trust "$work/keys" --online-key "$work/keys/online.key" "${secret[@]}"
        measure "publish.$case" patchsrv publish "$work/release" --data "$work/server" "${secret[@]}"
    done
    measure "export.$case" patchsrv export "$work/static.$case" --data "$work/server"
    bytes "$work/server/tree" >"$work/tree.$case"
    bytes "$work/static.$case" >"$work/exported.$case"
    ok "$case: $(cat "$work/tree.$case") bytes of tree, $(cat "$work/exported.$case") exported"
}

# serve GATEWAY CASE: the last release by patchsrv, and its export by nginx; their roots in $patchsrv_url and $nginx_url.
serve() {
    taskset -c "$server_core" patchsrv serve --data "$work/server" --port 0 --operators-port 0 --refresh-every off --connections 2048 >"$work/patchsrv.log" 2>&1 &
    patchsrv_pid=$!
    pids+=("$patchsrv_pid")
    wait_for "$patchsrv_pid" "$work/patchsrv.log" 'listening on'
    patchsrv_url=$(sed -n 's/.*listening on \(http[^ ]*\)$/\1/p' "$work/patchsrv.log")/$app/gateways/$1/production
    pinned=(taskset -c "$server_core")
    start_nginx "$work/static.$2/$app/gateways/$1/production" "${3:-}"
    pids+=("$nginx_pid")
}
url() { local name=${1}_url; echo "${!name}/$2"; }
# same NAME…: both answer with the same bytes.
same() {
    local name
    for name in "$@"; do curl -fsS "$(url patchsrv "$name")" | cmp - <(curl -fsS "$(url nginx "$name")") || fail "the servers differ in $name"; done
    ok "nginx and patchsrv serve the same bytes"
}
# load SERVER CASE NAME HEADER…: adds requests a second to $work/SERVER.CASE
load() {
    local server=$1 case=$2 name=$3
    shift 3
    taskset -c "$load_core" wrk -t 1 -c "$connections" -d "${seconds_each}s" "$@" "$(url "$server" "$name")" >"$work/said"
    ! grep -E 'Socket errors|Non-2xx' "$work/said" || fail "$server, $case"
    awk '/^Requests\/sec/ { print $2 }' "$work/said" >>"$work/$server.$case"
}
etag() { curl -fsSI "$1" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p'; }
# requests CASE…: the table of requests a second.
requests() {
    local case share
    echo
    echo '| requests a second | nginx | patchsrv | ratio |'
    echo '|---|---|---|---|'
    for case in "$@"; do
        share=$(paste "$work/patchsrv.$case" "$work/nginx.$case" | awk '{ print $1 / $2 }' | median)
        printf '| %s | %.0f | %.0f | %.2f |\n' "$case" "$(median <"$work/nginx.$case")" "$(median <"$work/patchsrv.$case")" "$share"
    done
}
# costs WITHOUT WITH: the table of what a release costs.
costs() {
    local step place
    echo
    echo "| | $1 | $2 |"
    echo '|---|---|---|'
    for step in sign publish export; do echo "| $step | $(milliseconds "$step.$1") | $(milliseconds "$step.$2") |"; done
    for place in tree exported; do echo "| $place, bytes | $(thousands "$(cat "$work/$place.$1")") | $(thousands "$(cat "$work/$place.$2")") |"; done
}
said_rounds="$rounds rounds of $seconds_each seconds each, server on core $server_core, load on core $load_core"

if [[ $parts = *meteor* ]]; then
    title "A Meteor app of ${FILES:-400} files of 4 kB"
    mkdir -p "$work/v1/web/app"
    for number in $(seq "${FILES:-400}"); do head -c 3000 /dev/urandom | base64 -w 0 >"$work/v1/web/app/$number.js"; done
    config='%7B%22ROOT_URL%22%3A%22https%3A%2F%2Fshop.example%2F%22%2C%22appId%22%3A%22shop%22%7D'
    printf '<!doctype html><script>__meteor_runtime_config__ = JSON.parse(decodeURIComponent("%s"))</script>\n' "$config" >"$work/v1/web/index.html"
    for case in without meteor; do
        printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "1", folder: web, cacheable: ["app/*"], compatibility: {ios: "5e5e"}%s}\n' \
            $app "$([ $case = without ] || echo ', gateways: [meteor]')" >"$work/v1/release.yaml"
        release $case "$work/v1"
    done
    serve meteor meteor
    same __cordova/manifest.json __cordova/app/7.js
    title "$said_rounds"
    for round in $(seq "$rounds"); do
        for server in nginx patchsrv; do
            load $server unchanged __cordova/manifest.json -H "If-None-Match: $(etag "$(url $server __cordova/manifest.json)")"
            load $server manifest __cordova/manifest.json
            load $server asset __cordova/app/7.js
        done
        ok "round $round"
    done
    requests unchanged manifest asset
    costs without meteor
fi

if [[ $parts = *jspatch* ]]; then
    title "An app of 20 script patches of 4 kB, for three app versions"
    mkdir -p "$work/j1"
    scripts=main.js:\ fix1
    for number in $(seq 20); do
        head -c 3000 /dev/urandom | base64 -w 0 >"$work/j1/$number.js"
        [ "$number" = 1 ] || scripts+=", fix$number.js: fix$number"
    done
    quietly openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$work/jspatch.key"
    head -c 16 /dev/urandom >"$work/aes.key"
    for case in plain jspatch; do
        {
            printf 'app: %s\nchannel: production\npatches:\n' $app
            for number in $(seq 20); do printf '  - {id: fix%s, kind: script, version: "1", file: %s.js}\n' "$number" "$number"; done
            [ $case = plain ] || printf 'jspatch:\n  scripts: {%s}\n  appVersions: ["2.0", "2.1", "2.2"]\n  loader: true\n  platform: 0a1b2c3d4e5f6071\n' "$scripts"
        } >"$work/j1/release.yaml"
        keys=()
        [ $case = plain ] || keys=(--jspatch-key "$work/jspatch.key" --aes-key "$work/aes.key")
        release $case "$work/j1" "${keys[@]}"
    done
    # The sync file's name is the folder's: nginx is told where it lies, so that it answers the client's own request.
    serve platform jspatch "location ~ ^/[^/]+/[^/]+\$ { try_files \$uri/index.html =404; }"
    same 0a1b2c3d4e5f6071/2.1 0a1b2c3d4e5f6071/2.1/file1
    title "$said_rounds"
    for round in $(seq "$rounds"); do
        for server in nginx patchsrv; do
            load $server sync 0a1b2c3d4e5f6071/2.1
            load $server package 0a1b2c3d4e5f6071/2.1/file1
        done
        ok "round $round"
    done
    requests sync package
    costs plain jspatch
fi
