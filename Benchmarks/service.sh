#!/usr/bin/env bash
# What the release service costs: a release of 10,000 files with 1 % changed, pushed over HTTP, beside rsync's daemon that
# takes in the same bytes; objects and metadata from `patchsrv serve` beside nginx on the exported tree; and every command
# on a server with 1,000 releases of history. Prints the tables of a page in Benchmarks.
#
# usage: Benchmarks/service.sh BIN_DIR       FILES=10000 ROUNDS=3 RELEASES=1000 SECONDS_EACH=3 SERVER_CORE=0 LOAD_CORE=1
#        PARTS="push serve history" chooses parts
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH:/usr/sbin"
files=${FILES:-10000}
rounds=${ROUNDS:-3}
releases=${RELEASES:-1000}
seconds_each=${SECONDS_EACH:-3}
server_core=${SERVER_CORE:-0}
load_core=${LOAD_CORE:-1}
parts=${PARTS:-push serve history}
app=bench.service
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
. "$here/measure.sh"
for tool in nginx wrk curl rsync taskset python3; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install nginx-light wrk curl rsync util-linux python3"
done
pids=()
end_all() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    clean_up
}
trap end_all EXIT

passphrase=(--passphrase-file "$work/passphrase")
describe() { # describe N: release.yaml of version N
    mkdir -p "$work/v$1"
    cat >"$work/v$1/release.yaml" <<YAML
app: $app
channel: production
patches:
  - {id: web, kind: bundle, version: "$1", folder: web, index: index.html}
YAML
}
serve() { # serve DATA [OPTIONS]: $server, $operators and $server_pid
    local data=$1
    shift
    : >"$work/patchsrv.log"
    "${pinned[@]}" patchsrv serve --data "$data" --port 0 --operators-port 0 --refresh-every off "$@" >"$work/patchsrv.log" 2>&1 &
    server_pid=$!
    wait_for "$server_pid" "$work/patchsrv.log" 'listening on'
    server=$(address_of 'listening on') operators=$(address_of 'operators on')
}
high_water() { awk '/^VmHWM/ { printf "%.0f MB", $2 / 1000 }' "/proc/$1/status"; }
token() { patchsrv token new bench --grant "*=publisher" --data "$1" 2>"$work/said" | head -n 1 | cut -d " " -f 1 >"$work/token"; }

if [[ " $parts " == *" push "* || " $parts " == *" serve "* ]]; then
    title "A bundle of $files files, and the same with 1 % of them replaced"
    describe 1
    describe 2
    python3 "$here/bundles.py" make "$work/v1/web" "$files" one 0
    cp -al "$work/v1/web" "$work/v2/web"
    python3 "$here/bundles.py" make "$work/v2/web" "$files" two $((files / 100))
    publish_first 3072
    quietly patchsign release "$work/v2" --output "$work/release2" --keys "$work/keys" --previous "$work/release" "${passphrase[@]}"
    ok "$(thousands "$files") files, $(thousands "$(find "$work/v1/web" -type f -printf '%s\n' | sum_of 1)") bytes"
fi

if [[ " $parts " == *" push "* ]]; then
    title "The changed release pushed, $rounds times, each beside rsync"
    # What a static host would be given: the tree after the publish, over the tree before it.
    cp -a "$work/server" "$work/after"
    quietly patchsrv publish "$work/release2" --data "$work/after" "${passphrase[@]}"
    for round in $(seq "$rounds"); do
        rm -rf "$work/site" "$work/host"
        cp -a "$work/server" "$work/site"
        cp -a "$work/server/tree" "$work/host"
        token "$work/site"
        serve "$work/site" "${passphrase[@]}"
        sync -f "$work"
        measure push patchsign push "$work/release2" --server "$operators" --token-file "$work/token" --json
        cp "$work/said" "$work/pushed"
        high_water "$server_pid" >"$work/server.peak"
        stop "$server_pid" patchsrv
        server_pid=
        rm -rf "$work/local"
        cp -a "$work/server" "$work/local"
        sync -f "$work"
        measure local patchsrv publish "$work/release2" --data "$work/local" "${passphrase[@]}"
        port=$(free_port)
        printf 'port = %s\naddress = 127.0.0.1\nuse chroot = no\n[host]\npath = %s\nread only = no\n%s' "$port" "$work/host" \
            "$([ "$(id -u)" = 0 ] && printf 'uid = root\ngid = root\n')" >"$work/rsyncd.conf"
        rsync --daemon --no-detach --config "$work/rsyncd.conf" >/dev/null 2>&1 &
        rsync_pid=$!
        pids+=("$rsync_pid")
        for _ in $(seq 100); do rsync "rsync://127.0.0.1:$port/" >/dev/null 2>&1 && break; sleep 0.1; done
        sync -f "$work"
        measure rsync rsync -a --fsync --stats "$work/after/tree/" "rsync://127.0.0.1:$port/host/"
        sed -n 's/^Total bytes sent: //p' "$work/said" >"$work/rsync.bytes"
        kill "$rsync_pid"
        ok "round $round: $(tail -n 1 "$work/push.time" | cut -d ' ' -f 1) s; rsync $(tail -n 1 "$work/rsync.time" | cut -d ' ' -f 1) s"
    done
    cat <<TABLE

$(thousands "$files") files, 1 % changed, median of $rounds rounds:

| what | bytes up | time | CPU | peak memory | beside rsync |
|---|---:|---:|---:|---:|---:|
| \`patchsign push\` | $(thousands "$(sed -n 's/.*"sentBytes": *\([0-9]*\).*/\1/p' "$work/pushed")") | $(wall push) | $(cpu push) | $(peak push) | $(ratio push rsync) × |
| \`patchsrv serve\`, meanwhile | | | | $(cat "$work/server.peak") | |
| \`patchsrv publish\`, from the same disk | | $(wall local) | $(cpu local) | $(peak local) | $(ratio local rsync) × |
| \`rsync -a --fsync\` of the tree to its daemon | $(cat "$work/rsync.bytes") | $(wall rsync) | $(cpu rsync) | $(peak rsync) | 1 |
TABLE
fi

if [[ " $parts " == *" serve "* ]]; then
    title "An exported tree from nginx, the same from patchsrv, $rounds rounds of $seconds_each s"
    quietly patchsrv export "$work/export" --data "$work/server"
    pinned=(taskset -c "$server_core")
    serve "$work/server" "${passphrase[@]}"
    patchsrv_url=$server/$app
    start_nginx "$work/export"
    pids+=("$nginx_pid")
    nginx_url=$nginx_url/$app
    cd "$work/export/$app"
    object=$(find objects -type f -printf '%s %p\n' | sort -n | awk '{ line[NR] = $2 } END { print line[int(NR / 2)] }')
    large=$(find objects -type f -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
    column=$(find targets -name '*.manifest.sigs')
    role=$(find metadata -name '*.production.json')
    cd - >/dev/null
    load() { # load SERVER CASE URL HEADER…
        taskset -c "$load_core" wrk -t 1 -c 16 -d "${seconds_each}s" "${@:4}" "$3" >"$work/said"
        ! grep -E 'Socket errors|Non-2xx' "$work/said" || fail "$1, $2"
        awk '/^Requests\/sec/ { print $2 }' "$work/said" >>"$work/$1.$2"
    }
    for path in "$object" "$large" "$column" "$role" metadata/timestamp.json; do
        curl -fsS "$patchsrv_url/$path" | cmp - "$work/export/$app/$path" || fail "patchsrv serves other bytes of $path"
        curl -fsS "$nginx_url/$path" | cmp - "$work/export/$app/$path" || fail "nginx serves other bytes of $path"
    done
    for round in $(seq "$rounds"); do
        for which in nginx patchsrv; do
            url=${which}_url
            tag=$(curl -fsSI "${!url}/metadata/timestamp.json" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
            load $which poll "${!url}/metadata/timestamp.json" -H "If-None-Match: $tag"
            load $which timestamp "${!url}/metadata/timestamp.json"
            load $which role "${!url}/$role"
            load $which object "${!url}/$object"
            load $which large "${!url}/$large"
            load $which column "${!url}/$column"
        done
        ok "round $round"
    done
    stop "$server_pid" patchsrv
    server_pid=
    size() { stat -c %s "$work/export/$app/$1"; }
    row() { # row CASE WORDS
        printf '| %s | %s | %s | %s × |\n' "$2" "$(thousands "$(median <"$work/nginx.$1" | cut -d . -f 1)")" \
            "$(thousands "$(median <"$work/patchsrv.$1" | cut -d . -f 1)")" \
            "$(paste "$work/patchsrv.$1" "$work/nginx.$1" | awk '{ print $1 / $2 }' | median | xargs printf '%.2f')"
    }
    cat <<TABLE

16 connections, one core each, median of $rounds rounds of $seconds_each s; more is better:

| what | nginx, requests/s | patchsrv, requests/s | beside nginx |
|---|---:|---:|---:|
$(row poll "timestamp, unchanged (304)")
$(row timestamp "timestamp, $(size metadata/timestamp.json) bytes")
$(row role "channel role, $(thousands "$(size "$role")") bytes")
$(row object "object, $(thousands "$(size "$object")") bytes")
$(row large "object, $(thousands "$(size "$large")") bytes")
$(row column "signature column, $(thousands "$(size "$column")") bytes")
TABLE
fi

if [[ " $parts " == *" history "* ]]; then
    title "$releases releases of a small app"
    pinned=()
    app=bench.history
    rm -rf "$work/keys" "$work/server" "$work/release"* "$work/v"*
    mkdir -p "$work/v/web"
    write() {
        printf '<p>%s</p>\n' "$1" >"$work/v/web/index.html"
        printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "%s", folder: web, index: index.html}\n' "$app" "$1" >"$work/v/release.yaml"
    }
    for n in $(seq 20); do head -c 4000 /dev/urandom | base64 >"$work/v/web/$n.js"; done
    write 1
    ln -s v "$work/v1"
    publish_first 2048
    began=$(now)
    for n in $(seq 2 "$releases"); do
        write "$n"
        quietly patchsign release "$work/v" --output "$work/next" --keys "$work/keys" --previous "$work/release" "${passphrase[@]}"
        before=$(now)
        quietly patchsrv publish "$work/next" --data "$work/server" "${passphrase[@]}"
        echo "$(($(now) - before))" >>"$work/publish.micros"
        rm -rf "$work/release"
        mv "$work/next" "$work/release"
    done
    ok "$(seconds "$began") s"
    first=$(head -n 50 "$work/publish.micros" | median)
    last=$(tail -n 50 "$work/publish.micros" | median)
    data=(--data "$work/server")
    one=(--app "$app" --channel production "${data[@]}")
    for round in $(seq "$rounds"); do
        measure status patchsrv status "${data[@]}"
        measure list patchsrv list "${data[@]}"
        measure history patchsrv history "${one[@]}" --last 20
        measure historyAll patchsrv history "${one[@]}" --last "$releases"
        measure dial patchsrv dial "${one[@]}"
        measure audit patchsrv audit verify "${data[@]}"
        measure auditList patchsrv audit list "${data[@]}" --last 1000
        measure auditExport patchsrv audit export "${data[@]}"
        measure tokens patchsrv token list "${data[@]}"
        measure answers patchsrv answer list "${one[@]}"
        measure proposals patchsrv proposal list "${one[@]}"
        measure drafts patchsrv draft list "${one[@]}"
        measure parameters patchsrv parameters show "${one[@]}"
        measure refresh patchsrv refresh "${data[@]}" "${passphrase[@]}"
        measure check patchsrv check "${data[@]}"
        measure gc patchsrv gc --dry-run "${data[@]}"
        rm -rf "$work/export" "$work/backup"
        measure export patchsrv export "$work/export" "${data[@]}"
        measure backup patchsrv backup "$work/backup" "${data[@]}"
        measure doctor bash -c 'patchsrv doctor "$@" || [ $? = 10 ]' - "${data[@]}" "${passphrase[@]}"
        began=$(now)
        serve "$work/server" "${passphrase[@]}"
        curl -fsS -o /dev/null "$operators/readyz"
        echo "$(($(now) - began))" >>"$work/start.micros"
        high_water "$server_pid" >"$work/start.peak"
        stop "$server_pid" patchsrv
        server_pid=
    done
    ms() { awk -v micros="$1" 'BEGIN { printf "%.0f ms", micros / 1000 }'; }
    line() { printf '| `%s` | %s | %s | %s |\n' "$2" "$(milliseconds "$1")" "$(cpu "$1")" "$(peak "$1")"; }
    cat <<TABLE

$(thousands "$releases") releases, $(thousands "$(find "$work/server/tree" -type f | wc -l)") files in the tree, median of $rounds rounds:

| command | time | CPU | peak memory |
|---|---:|---:|---:|
| \`patchsrv publish\`, the first 50 | $(ms "$first") | | |
| \`patchsrv publish\`, the last 50 | $(ms "$last") | | |
$(line status 'patchsrv status')
$(line list 'patchsrv list')
$(line history 'patchsrv history --last 20')
$(line historyAll "patchsrv history --last $releases")
$(line dial 'patchsrv dial')
$(line audit 'patchsrv audit verify')
$(line auditList 'patchsrv audit list --last 1000')
$(line auditExport 'patchsrv audit export')
$(line tokens 'patchsrv token list')
$(line answers 'patchsrv answer list')
$(line proposals 'patchsrv proposal list')
$(line drafts 'patchsrv draft list')
$(line parameters 'patchsrv parameters show')
$(line refresh 'patchsrv refresh')
$(line check 'patchsrv check')
$(line gc 'patchsrv gc --dry-run')
$(line export 'patchsrv export')
$(line backup 'patchsrv backup')
$(line doctor 'patchsrv doctor')
| \`patchsrv serve\`, start until \`/readyz\` is answered | $(ms "$(median <"$work/start.micros")") | | $(cat "$work/start.peak") |
TABLE
fi
