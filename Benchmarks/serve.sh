#!/usr/bin/env bash
# What serving costs: `patchsrv serve` and `patchsync serve` beside nginx on the same files, one core for the server and
# one for the load: a small file, the same unchanged (304), a file of 200 KB, 100 MB of a larger one by a range, and the
# memory of 1,000 idle connections. Prints the table of a page in Benchmarks.
#
# usage: Benchmarks/serve.sh BIN_DIR       ROUNDS=5 SECONDS_EACH=3 CONNECTIONS=16 SERVER_CORE=0 LOAD_CORE=1
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
app=bench.serve
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
. "$here/measure.sh"
for tool in nginx wrk curl taskset python3; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install nginx-light wrk curl util-linux python3"
done

title "A bundle with a small file, one of 200 KB and one of 150 MB"
mkdir -p "$work/v1/web"
printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "1", folder: web, index: small.js}\n' $app >"$work/v1/release.yaml"
head -c 1024 /dev/urandom >"$work/v1/web/small.js"
head -c 200000 /dev/urandom >"$work/v1/web/medium.js"
head -c 150000000 /dev/urandom >"$work/v1/web/large.bin"
publish_first 2048

pids=()
end_all() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    clean_up
}
trap end_all EXIT

# All three log no requests.
taskset -c "$server_core" patchsrv serve --data "$work/server" --port 0 --operators-port 0 --refresh-every off --connections 2048 >"$work/patchsrv.log" 2>&1 &
patchsrv_pid=$!
pids+=("$patchsrv_pid")
wait_for "$patchsrv_pid" "$work/patchsrv.log" 'listening on'
patchsrv_url=$(sed -n 's/.*listening on \(http[^ ]*\)$/\1/p' "$work/patchsrv.log")
# wrk and Python do not resolve NAME.localhost.
quietly patchsync init --store "$work/device" --root "$work/keys/root.json" --server "$patchsrv_url" --no-own-host
quietly patchsync sync --store "$work/device"
taskset -c "$server_core" patchsync serve --store "$work/device" --port 0 --startup-timeout 3600000 --json >"$work/patchsync.log" 2>&1 &
patchsync_pid=$!
pids+=("$patchsync_pid")
wait_for "$patchsync_pid" "$work/patchsync.log" '"url"'
# The first URL carries the access token; every request carries it as the cookie that it becomes, to all three servers.
first_url=$(sed -n 's|.*"url": *"\(http[^"]*\)".*|\1|p' "$work/patchsync.log" | head -n 1)
patchsync_url=${first_url%%/\?*}
cookie=$(page_cookie "$first_url")
pinned=(taskset -c "$server_core")
start_nginx "$work/v1/web"
pids+=("$nginx_pid")
nginx_pid=$(pgrep -P "$nginx_pid")

# url SERVER NAME: where a server has a file; patchsrv has it by its digest.
url() {
    case $1 in
    nginx) echo "$nginx_url/$2" ;;
    patchsync) echo "$patchsync_url/$2" ;;
    patchsrv)
        local digest
        digest=$(sha256sum "$work/v1/web/$2" | cut -c -64)
        echo "$patchsrv_url/$app/objects/${digest:0:2}/$digest"
        ;;
    esac
}
for server in nginx patchsrv patchsync; do
    for name in small.js medium.js large.bin; do
        curl -fsS -b "$cookie" "$(url $server $name)" | cmp - "$work/v1/web/$name" || fail "$server serves other bytes of $name"
    done
done
ok "nginx $(nginx -v 2>&1 | sed 's/.*nginx.//'), patchsrv and patchsync serve the same bytes"

pid_of() { local name=${1}_pid; echo "${!name}"; }
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
# load SERVER CASE NAME HEADER…: adds "requests/s p99-ms cpu-µs-a-request bytes/s" to $work/SERVER.CASE
load() {
    local server=$1 case=$2 name=$3 pid before after
    shift 3
    pid=$(pid_of "$server")
    before=$(ticks "$pid")
    taskset -c "$load_core" wrk -t 1 -c "$streams" -d "${seconds_each}s" --latency -H "Cookie: $cookie" "$@" "$(url "$server" "$name")" >"$work/said"
    after=$(ticks "$pid")
    ! grep -E 'Socket errors|Non-2xx' "$work/said" || fail "$server, $case"
    awk -v cpu=$((after - before)) '
        function seconds(text) { return text ~ /us$/ ? text / 1e6 : text ~ /ms$/ ? text / 1e3 : text + 0 }
        $1 == "99%" { p99 = seconds($2) * 1000 }
        / requests in / { requests = $1; spent = seconds(substr($4, 1, length($4) - 1)) }
        /^Requests\/sec/ { rate = $2 }
        END { printf "%.1f %.3f %.2f\n", rate, p99, cpu * 10000 / (requests ? requests : 1) }
    ' "$work/said" >>"$work/$server.$case"
}
etag() { curl -fsSI -b "$cookie" "$1" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p'; }

title "$rounds rounds of $seconds_each seconds each, server on core $server_core, load on core $load_core"
for round in $(seq "$rounds"); do
    for server in nginx patchsrv patchsync; do
        streams=$connections
        load $server unchanged small.js -H "If-None-Match: $(etag "$(url $server small.js)")"
        load $server small small.js
        load $server medium medium.js
        streams=2
        load $server range large.bin -H 'Range: bytes=40000000-139999999'
    done
    ok "round $round"
done

title "1,000 idle connections"
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
for server in nginx patchsrv patchsync; do
    before=$(resident "$(pid_of $server)")
    python3 - "$(url $server small.js)" 1000 "$work/go-$server" "$cookie" <<'PYTHON' &
import http.client, os, sys, time, urllib.parse
url = urllib.parse.urlparse(sys.argv[1])
held = []
for _ in range(int(sys.argv[2])):
    connection = http.client.HTTPConnection(url.hostname, url.port)
    connection.request("GET", url.path, headers={"Cookie": sys.argv[4]})
    assert len(connection.getresponse().read()) == 1024
    held.append(connection)
open(sys.argv[3] + ".held", "w").close()
while not os.path.exists(sys.argv[3]): time.sleep(0.1)
PYTHON
    holder=$!
    while [ ! -e "$work/go-$server.held" ]; do kill -0 "$holder" || fail "$server does not take 1,000 connections"; sleep 0.1; done
    echo "$before $(resident "$(pid_of $server)")" >"$work/$server.idle"
    touch "$work/go-$server"
    wait "$holder"
done
ok "all answered once each"

figure() { awk -v column="$3" '{ print $column }' "$work/$1.$2" | median; }
# beside CASE SERVER COLUMN: nginx's share, pair by pair, the median; above 1 is better than nginx.
rate_beside() { paste "$work/$2.$1" "$work/nginx.$1" | awk '{ print $1 / $4 }' | median | xargs printf '%.2f'; }
cpu_beside() { paste "$work/$2.$1" "$work/nginx.$1" | awk '{ print $6 / $3 }' | median | xargs printf '%.2f'; }
row() { # row CASE WORDS
    local server
    for server in nginx patchsrv patchsync; do
        printf '| %s | %s | %s | %.2f ms | %.1f µs | %s × | %s × |\n' "$2" "$server" \
            "$(thousands "$(printf '%.0f' "$(figure $server "$1" 1)")")" "$(figure $server "$1" 2)" "$(figure $server "$1" 3)" \
            "$(rate_beside "$1" $server)" "$(cpu_beside "$1" $server)"
    done
}
title "The tables"
cat <<TABLE

$connections connections (2 for the range), median of $rounds rounds of $seconds_each s; the last two columns are nginx's figures pair by pair, more is better:

| what | server | requests/s | p99 | CPU a request | requests/s beside nginx | requests a CPU second beside nginx |
|---|---|---:|---:|---:|---:|---:|
$(row unchanged '304, 1 KB')
$(row small '200, 1 KB')
$(row medium '200, 200 KB')
$(row range '206, 100 MB')

| memory | at rest | with 1,000 idle connections | a connection |
|---|---:|---:|---:|
$(for server in nginx patchsrv patchsync; do
    awk -v name=$server '{ printf "| %s | %.1f MB | %.1f MB | %.1f KB |\n", name, $1 / 1000, $2 / 1000, ($2 - $1) / 1000 }' "$work/$server.idle"
done)
TABLE
