#!/usr/bin/env bash
# What a sync and a start cost: a first sync and one with 1 % changed beside rsync's daemon, aria2c, and `cp -r` with
# `sha256sum`; one with nothing new beside curl; the first byte after a start; and all of these from 1,000 to 100,000 files.
# Prints the tables of a page in Benchmarks and draws Benchmarks/sync.svg.
#
# usage: Benchmarks/sync.sh BIN_DIR     ROUNDS=3 POLLS=15 FILES=10000 SIZES="1000 3000 10000 30000 100000"
#        Nothing is removed before the end, and every command begins with a disk that has nothing to write: ext4 passes over
#        inodes that were freed in the last minutes, so files made after others were removed cost several times as much.
#        PREPARED=DIR keeps the signed releases and the servers' folders there and takes them from there the next time.
#        PLOT=FILE is where the plot goes; SIZES= leaves it out.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
rounds=${ROUNDS:-3}
polls=${POLLS:-15}
files=${FILES:-10000}
sizes=${SIZES-1000 3000 10000 30000 100000}
app=bench.sync
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
prepared=${PREPARED:-$work/prepared}
log=$work/access.log
. "$here/common.sh"
. "$here/measure.sh"
for tool in rsync aria2c curl; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install rsync aria2 curl"
done

# prepare SET FILES LARGEST BITS: two versions of a bundle, signed; a server's folder for each, the second made from the first.
prepare() {
    local set=$prepared/$1 n
    [ ! -e "$set/done" ] || return 0
    rm -rf "$set"
    for n in 1 2; do
        mkdir -p "$set/v$n"
        printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "%s", folder: web, index: index.html}\n' $app $n >"$set/v$n/release.yaml"
    done
    python3 "$here/bundles.py" make "$set/v1/web" "$2" one 0 "$3"
    cp -al "$set/v1/web" "$set/v2/web"
    python3 "$here/bundles.py" make "$set/v2/web" "$2" two $(($2 / 100)) "$3"
    head -c 18 /dev/urandom | base64 >"$set/passphrase"
    local passphrase=(--passphrase-file "$set/passphrase")
    quietly patchsign init --app $app --keys "$set/keys" --bits "$4" "${passphrase[@]}"
    quietly patchsign release "$set/v1" --output "$set/release1" --keys "$set/keys" "${passphrase[@]}"
    quietly patchsign release "$set/v2" --output "$set/release2" --previous "$set/release1" --keys "$set/keys" "${passphrase[@]}"
    quietly patchsrv init --data "$set/server1" --trust "$set/keys" --online-key "$set/keys/online.key" "${passphrase[@]}"
    quietly patchsrv publish "$set/release1" --data "$set/server1" --optimize "${passphrase[@]}"
    cp -al "$set/server1" "$set/server2"
    quietly patchsrv publish "$set/release2" --data "$set/server2" --optimize "${passphrase[@]}"
    touch "$set/done"
}

# serving SET N: patchsrv serves version N of a set, in `server`; its log is a file of its own.
serving() {
    [ -z "$server_pid" ] || stop "$server_pid" "patchsrv serve"
    rm -rf "$work/server"
    ln -s "$prepared/$1/server$2" "$work/server"
    start_patchsrv
}

# Until what other commands wrote is on the disk.
calm() { command sync -f "$work"; }
sync() { # sync NAME STORE: and what travelled
    local from
    calm
    from=$(log_lines)
    measure "$1" patchsync sync --store "$work/$2"
    log_is_complete
    logged "$from" >"$work/$1.requests"
}
new_device() { # new_device STORE SET
    quietly patchsync init --store "$work/$1" --root "$prepared/$2/keys/root.json" --server "$server"
}
settle() { # settle STORE: what waits becomes what runs, confirmed
    quietly patchsync confirm --store "$work/$1" --launch-file <(patchsync switch --store "$work/$1" | sed -n 's/^confirm: echo \([0-9a-f]*\) .*/\1/p')
}
point_at_server() { python3 -c 'import json,sys; p=sys.argv[1]; c=json.load(open(p)); c["server"]=sys.argv[2]; json.dump(c,open(p,"w"))' "$work/$1/config.json" "$server"; }
first_byte() { # first_byte NAME STORE: milliseconds and kB, as `measure` writes them
    local port
    port=$(free_port)
    python3 "$here/start.py" "$port" "/" patchsync serve --store "$work/$2" --port "$port" --open --no-sync >"$work/started"
    awk '{ printf "%.4f 0 %d\n", $1 / 1000, $2 }' "$work/started" >>"$work/$1.time"
}
requests() { thousands "$(wc -l <"$work/$1.requests")"; }
bytes() { thousands "$(sum_of 3 <"$work/$1.requests")"; }

copy_and_hash() { # copy_and_hash NAME N DESTINATION
    calm
    measure "$1" bash -c 'cp -r "$1" "$2" && find "$2" -type f -print0 | xargs -0 -n 20000 sha256sum >/dev/null && sync -f "$2"' - "$prepared/main/v$2/web" "$work/$3"
}
rsync_from() { # rsync_from NAME N DESTINATION
    calm
    measure "$1" rsync -a --stats "rsync://127.0.0.1:$rsync_port/v$2/" "$work/$3/"
    sed -n 's/^Total bytes received: \([0-9,]*\)$/\1/p' "$work/said" >"$work/$1.bytes"
}
aria2_list() { # of every object, with its digest
    published_objects "$prepared/main/server1" | awk -v server="$server" '{ n = split($1, part, "/"); printf "%s%s\n  checksum=sha-256=%s\n", server, $1, part[n] }'
}

title "A bundle of $files files, and the same with 1 % of them replaced"
prepare main "$files" 40000 3072
total=$(find "$prepared/main/v1/web" -type f -printf '%s\n' | sum_of 1)
ok "$(thousands "$files") files, $(thousands "$total") bytes"
rsync_port=$(free_port)
cat >"$work/rsyncd.conf" <<CONF
port = $rsync_port
address = 127.0.0.1
use chroot = no
[v1]
path = $prepared/main/v1/web
[v2]
path = $prepared/main/v2/web
CONF
rsync --daemon --no-detach --config "$work/rsyncd.conf" >"$work/rsyncd.log" 2>&1 &
serve_pid=$!

title "First sync, $rounds rounds"
for round in $(seq "$rounds"); do
    serving main 1
    device=device$round
    new_device "$device" main
    sync first "$device"
    mkdir "$work/rsync$round" "$work/aria2$round"
    rsync_from rsync.first 1 "rsync$round"
    calm
    measure rsync.fsync rsync -a --fsync "rsync://127.0.0.1:$rsync_port/v1/" "$work/rsync-fsync$round/"
    aria2_list >"$work/aria2.list"
    calm
    measure aria2.first aria2c --quiet --no-conf --dir "$work/aria2$round" --input-file "$work/aria2.list" --max-concurrent-downloads 6 --file-allocation none
    copy_and_hash copy 1 "copy$round"
    ok "round $round: $(tail -n 1 "$work/first.time" | cut -d ' ' -f 1) s; rsync $(tail -n 1 "$work/rsync.first.time" | cut -d ' ' -f 1) s; copy and hash $(tail -n 1 "$work/copy.time" | cut -d ' ' -f 1) s"
    settle "$device"
    serving main 2
    point_at_server "$device"
    sync update "$device"
    settle "$device"
    rsync_from rsync.update 2 "rsync$round"
    ok "round $round, 1 % changed: $(tail -n 1 "$work/update.time" | cut -d ' ' -f 1) s; rsync $(tail -n 1 "$work/rsync.update.time" | cut -d ' ' -f 1) s"
done
quietly patchsync verify --store "$work/$device"

title "Nothing new, and a start, $polls times"
sync warm "$device"
mapfile -t urls < <(grep -v /targets/ "$work/warm.requests" | cut -d ' ' -f 1 | sed "s|^|$server|")
[ ${#urls[@]} = 1 ] || fail "a sync with nothing new asked ${#urls[@]} times for metadata: ${urls[*]}"
for round in $(seq "$polls"); do
    sync nothing "$device"
    measure curl.nothing curl --silent -o /dev/null "${urls[@]}"
    first_byte start "$device"
done
ok "nothing new: $(milliseconds nothing); curl $(milliseconds curl.nothing); first byte $(milliseconds start)"

: >"$work/figures"
for size in $sizes; do
    title "$(thousands "$size") files of 1 kB"
    prepare "plot$size" "$size" 2000 2048
    rm -f "$work"/plot.*.time
    for round in $(seq "$rounds"); do
        serving "plot$size" 1
        device=plot$size.$round
        new_device "$device" "plot$size"
        sync plot.first "$device"
        settle "$device"
        serving "plot$size" 2
        point_at_server "$device"
        sync plot.update "$device"
        settle "$device"
        sync plot.nothing "$device"
        first_byte plot.start "$device"
    done
    echo "$size $(column plot.first 1) $(column plot.update 1) $(column plot.nothing 1) $(column plot.start 1)" >>"$work/figures"
    printf '| %s | %s | %s | %s | %s | %s / %s / %s |\n' "$(thousands "$size")" "$(wall plot.first)" "$(wall plot.update)" "$(milliseconds plot.nothing)" "$(milliseconds plot.start)" "$(peak plot.first)" "$(peak plot.update)" "$(peak plot.nothing)" >>"$work/table"
    tail -n 1 "$work/table"
done
stop "$server_pid" "patchsrv serve"
server_pid=

title "The tables"
cat <<TABLE

$(thousands "$files") files, $(thousands "$total") bytes over loopback, median of $rounds rounds:

| what | requests | bytes | time | CPU | peak memory | beside rsync | beside copy and hash |
|---|---:|---:|---:|---:|---:|---:|---:|
| \`patchsync sync\`, into an empty store | $(requests first) | $(bytes first) | $(wall first) | $(cpu first) | $(peak first) | $(ratio first rsync.first) × | $(ratio first copy) × |
| \`rsync -a\` from its daemon | | $(cat "$work/rsync.first.bytes") | $(wall rsync.first) | $(cpu rsync.first) | $(peak rsync.first) | 1 | $(ratio rsync.first copy) × |
| \`rsync -a --fsync\` | | | $(wall rsync.fsync) | $(cpu rsync.fsync) | $(peak rsync.fsync) | $(ratio rsync.fsync rsync.first) × | $(ratio rsync.fsync copy) × |
| \`aria2c\`, six at once, digests checked, from the same server | $(thousands "$files") | $(thousands "$total") | $(wall aria2.first) | $(cpu aria2.first) | $(peak aria2.first) | $(ratio aria2.first rsync.first) × | $(ratio aria2.first copy) × |
| \`cp -r\`, \`sha256sum\`, one \`sync -f\` | | | $(wall copy) | $(cpu copy) | $(peak copy) | $(ratio copy rsync.first) × | 1 |
| \`patchsync sync\`, 1 % changed | $(requests update) | $(bytes update) | $(wall update) | $(cpu update) | $(peak update) | $(ratio update rsync.update) × | $(ratio update copy) × |
| \`rsync -a\`, 1 % changed | | $(cat "$work/rsync.update.bytes") | $(wall rsync.update) | $(cpu rsync.update) | $(peak rsync.update) | 1 | $(ratio rsync.update copy) × |

| what | requests | bytes | time | CPU | peak memory | beside curl |
|---|---:|---:|---:|---:|---:|---:|
| \`patchsync sync\`, nothing new | $(requests nothing) | $(bytes nothing) | $(milliseconds nothing) | $(cpu nothing) | $(peak nothing) | $(ratio nothing curl.nothing) × |
| \`curl\`, the same request | 1 | | $(milliseconds curl.nothing) | $(cpu curl.nothing) | $(peak curl.nothing) | 1 |
| \`patchsync serve\`, start to first byte | | | $(milliseconds start) | | $(peak start) | |

TABLE
[ -n "$sizes" ] || exit 0
cat <<TABLE
| files of 1 kB | first sync | 1 % changed | nothing new | start to first byte | peak memory of the three syncs |
|---:|---:|---:|---:|---:|---:|
$(cat "$work/table")
TABLE
python3 "$here/plot.py" "$work/figures" >"${PLOT:-$here/sync.svg}"
