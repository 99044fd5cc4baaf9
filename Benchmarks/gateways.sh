#!/usr/bin/env bash
# What the wires of other systems cost: a release with and without Meteor's gateway (signing, publishing, bytes of the tree and of an
# export), and requests a second of `patchsrv serve` for Meteor's clients beside nginx on the same files, one core for the server
# and one for the load. Prints the table of Benchmarks/README.md.
#
# usage: Benchmarks/gateways.sh BIN_DIR       ROUNDS=5 SECONDS_EACH=3 CONNECTIONS=16 FILES=400 SERVER_CORE=0 LOAD_CORE=1
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
app=bench.gateways
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
. "$here/measure.sh"
for tool in nginx wrk curl taskset python3; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install nginx-light wrk curl util-linux python3"
done
pids=()
end_all() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    clean_up
}
trap end_all EXIT

title "A Meteor app of ${FILES:-400} files of 4 kB"
mkdir -p "$work/v1/web/app"
for number in $(seq "${FILES:-400}"); do head -c 3000 /dev/urandom | base64 -w 0 >"$work/v1/web/app/$number.js"; done
config='%7B%22ROOT_URL%22%3A%22https%3A%2F%2Fshop.example%2F%22%2C%22appId%22%3A%22shop%22%7D'
printf '<!doctype html><script>__meteor_runtime_config__ = JSON.parse(decodeURIComponent("%s"))</script>\n' "$config" >"$work/v1/web/index.html"
describe() {
    printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "1", folder: web, cacheable: ["app/*"], compatibility: {ios: "5e5e"}%s}\n' \
        $app "$1" >"$work/v1/release.yaml"
}
bytes() { du -sb --apparent-size "$1" | cut -f 1; }

for case in without with; do
    describe "$([ $case = without ] || echo ', gateways: [meteor]')"
    for round in $(seq "$rounds"); do
        rm -rf "$work/keys" "$work/release" "$work/server" "$work/static.$case"
        head -c 18 /dev/urandom | base64 >"$work/passphrase"
        secret=(--passphrase-file "$work/passphrase")
        quietly patchsign init --app $app --keys "$work/keys" --bits 2048 "${secret[@]}"
        measure "sign.$case" patchsign release "$work/v1" --output "$work/release" --keys "$work/keys" "${secret[@]}"
        quietly patchsrv init --data "$work/server" --trust "$work/keys" --online-key "$work/keys/online.key" "${secret[@]}"
        measure "publish.$case" patchsrv publish "$work/release" --data "$work/server" "${secret[@]}"
    done
    measure "export.$case" patchsrv export "$work/static.$case" --data "$work/server"
    bytes "$work/server/tree" >"$work/tree.$case"
    bytes "$work/static.$case" >"$work/exported.$case"
    ok "$case: $(cat "$work/tree.$case") bytes of tree, $(cat "$work/exported.$case") exported"
done

taskset -c "$server_core" patchsrv serve --data "$work/server" --port 0 --operators-port 0 --refresh-every off --connections 2048 >"$work/patchsrv.log" 2>&1 &
patchsrv_pid=$!
pids+=("$patchsrv_pid")
wait_for "$patchsrv_pid" "$work/patchsrv.log" 'listening on'
patchsrv_url=$(sed -n 's/.*listening on \(http[^ ]*\)$/\1/p' "$work/patchsrv.log")/$app/gateways/meteor/production
pinned=(taskset -c "$server_core")
start_nginx "$work/static.with/$app/gateways/meteor/production"
pids+=("$nginx_pid")

url() { local name=${1}_url; echo "${!name}/__cordova/$2"; }
for name in manifest.json app/7.js; do
    curl -fsS "$(url patchsrv $name)" | cmp - <(curl -fsS "$(url nginx $name)") || fail "the servers differ in $name"
done
ok "nginx and patchsrv serve the same bytes"

# load SERVER CASE NAME HEADER…: adds requests a second to $work/SERVER.CASE
load() {
    local server=$1 case=$2 name=$3
    shift 3
    taskset -c "$load_core" wrk -t 1 -c "$connections" -d "${seconds_each}s" "$@" "$(url "$server" "$name")" >"$work/said"
    ! grep -E 'Socket errors|Non-2xx' "$work/said" || fail "$server, $case"
    awk '/^Requests\/sec/ { print $2 }' "$work/said" >>"$work/$server.$case"
}
etag() { curl -fsSI "$1" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p'; }
title "$rounds rounds of $seconds_each seconds each, server on core $server_core, load on core $load_core"
for round in $(seq "$rounds"); do
    for server in nginx patchsrv; do
        load $server unchanged manifest.json -H "If-None-Match: $(etag "$(url $server manifest.json)")"
        load $server manifest manifest.json
        load $server asset app/7.js
    done
    ok "round $round"
done

echo
echo '| requests a second | nginx | patchsrv | ratio |'
echo '|---|---|---|---|'
for case in unchanged manifest asset; do
    share=$(paste "$work/patchsrv.$case" "$work/nginx.$case" | awk '{ print $1 / $2 }' | median)
    printf '| %s | %.0f | %.0f | %.2f |\n' $case "$(median <"$work/nginx.$case")" "$(median <"$work/patchsrv.$case")" "$share"
done
echo
echo '| | without | with the gateway |'
echo '|---|---|---|'
for step in sign publish export; do echo "| $step | $(milliseconds $step.without) | $(milliseconds $step.with) |"; done
for place in tree exported; do echo "| $place, bytes | $(thousands "$(cat "$work/$place.without")") | $(thousands "$(cat "$work/$place.with")") |"; done
