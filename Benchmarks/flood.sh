#!/usr/bin/env bash
# Whether a flood of connections from few addresses keeps a device from its poll, and another user of a device the page from
# its confirm: COUNT connections of each kind, each held for SECONDS_EACH, all of them of this machine.
# Prints the table of a page in Benchmarks.
#
# usage: Benchmarks/flood.sh BIN_DIR       COUNT=10000 SECONDS_EACH=20 ASKS=400 KINDS="none idle head body upload reader"
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
count=${COUNT:-10000}
seconds_each=${SECONDS_EACH:-20}
asks=${ASKS:-400}
kinds=${KINDS:-none idle head body upload reader}
app=bench.flood
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
ulimit -n "$(ulimit -Hn)"
[ "$(ulimit -n)" -ge $((count + 200)) ] || fail "ulimit -n is $(ulimit -n): COUNT=$(($(ulimit -n) - 200)), or more files"

title "A bundle with a page and 20 MB more"
mkdir -p "$work/v1/web"
printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "1", folder: web, index: index.html}\n' $app >"$work/v1/release.yaml"
echo '<!doctype html><title>flood</title>' >"$work/v1/web/index.html"
head -c 20000000 /dev/urandom >"$work/v1/web/large.bin"
publish_first 2048
digest=$(sha256sum "$work/v1/web/large.bin" | cut -c -64)

flooder=
end_all() {
    [ -z "$flooder" ] || kill "$flooder" 2>/dev/null || true
    clean_up
}
trap end_all EXIT

: >"$work/patchsrv.log"
patchsrv serve --data "$work/server" --port 0 --operators-port 0 --refresh-every off >"$work/patchsrv.log" 2>&1 &
server_pid=$!
wait_for "$server_pid" "$work/patchsrv.log" 'listening on'
server=$(address_of 'listening on') operators=$(address_of 'operators on')
quietly patchsync init --store "$work/device" --root "$work/keys/root.json" --server "$server" --no-own-host
quietly patchsync sync --store "$work/device"
: >"$work/patchsync.log"
patchsync serve --store "$work/device" --port 0 --no-sync --startup-timeout 3600000 --json >"$work/patchsync.log" 2>&1 &
serve_pid=$!
wait_for "$serve_pid" "$work/patchsync.log" '"url"'
first_url=$(sed -n 's|.*"url": *"\(http[^"]*\)".*|\1|p' "$work/patchsync.log" | head -n 1)
page=${first_url%%/\?*}
cookie=$(page_cookie "$first_url")
launch=$(curl -fsS -b "$cookie" "$page/__patchline/launch.js" | grep -oE '[0-9a-f]{32,}' | head -n 1)
[ -n "$launch" ] || fail "there is no trial"
ok "patchsrv and patchsync serve"

resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
open_files() { ls "/proc/$1/fd" | wc -l; }
# floods KIND URL ADDRESSES [USER]: in the background, until all connections were made.
floods() {
    [ "$1" != none ] || return 0
    : >"$work/flood"
    python3 "$here/flood.py" "$1" "$2" "$count" "$seconds_each" "${@:3}" >"$work/flood" 2>&1 &
    flooder=$!
    wait_for "$flooder" "$work/flood" '^up'
}
ends() {
    [ -n "$flooder" ] || return 0
    wait "$flooder"
    flooder=
}
made() { if [ "$1" = none ]; then echo -; else awk '/^made/ { print $2 }' "$work/flood"; fi; }
row() { # row WHAT KIND PID BEFORE AFTER FILES FIGURES…
    printf '| %s | %s | %s | %s ms | %s ms | %s ms | %s | %.1f MB | %s |\n' "$1" "$2" "$(made "$2")" "$7" "$8" "$9" "${10}" \
        "$(awk -v after="$5" 'BEGIN { print after / 1000 }')" "$6"
}
other_user=
[ "$(id -u)" != 0 ] || other_user=65534

: >"$work/rows"
for kind in $kinds; do
    title "$kind"
    case $kind in
    body) at=$server/api/v1/apps/$app/channels/production/answer ;;
    upload) at=$operators/api/v1/apps/$app/uploads/x/parts/x ;;
    reader) at=$server/$app/objects/${digest:0:2}/$digest ;;
    *) at=$server/$app/metadata/timestamp.json ;;
    esac
    before=$(resident "$server_pid")
    floods "$kind" "$at" 127.0.0.2,127.0.0.4
    figures=$(python3 "$here/flood.py" ask "$server/$app/metadata/timestamp.json" "$asks" 127.0.0.3)
    after=$(resident "$server_pid") files=$(open_files "$server_pid")
    ends
    row "a device's poll" "$kind" "$server_pid" "$before" "$after" "$files" $figures | tee -a "$work/rows"

    case $kind in
    reader) at="$page/large.bin" ;;
    *) at="$page/" ;;
    esac
    before=$(resident "$serve_pid")
    floods "$kind" "$at" 127.0.0.1 $other_user
    figures=$(python3 "$here/flood.py" ask "$page/__patchline/confirm?launch=$launch" "$asks" 127.0.0.1 POST "$cookie")
    after=$(resident "$serve_pid") files=$(open_files "$serve_pid")
    ends
    row "the page's confirm" "$kind" "$serve_pid" "$before" "$after" "$files" $figures | tee -a "$work/rows"
done

title "What patchsrv said"
grep 'connections:' "$work/patchsrv.log" | tail -n 5 || true
title "The table"
cat <<TABLE

$count connections of each kind, of 127.0.0.2 and 127.0.0.4 at patchsrv and of user ${other_user:-$(id -u)} at patchsync; $asks asks on a new connection each:

| what | flood | connections made | p50 | p99 | worst | not answered | memory | open files |
|---|---|---:|---:|---:|---:|---:|---:|---:|
$(cat "$work/rows")
TABLE
