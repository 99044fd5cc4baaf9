#!/usr/bin/env bash
# What a device costs that looks after itself: from nothing to the first confirmed version, `patchsync run` from its start to the
# first byte, `explain`, `simulate` of a million devices, and `run` while nothing happens.
# Prints the tables of "A device that looks after itself" of Benchmarks/README.md.
#
# usage: Benchmarks/device.sh BIN_DIR     ROUNDS=21 DEVICES=1000000 IDLE_SECONDS=3600
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
rounds=${ROUNDS:-21}
devices=${DEVICES:-1000000}
idle=${IDLE_SECONDS:-3600}
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=$work/access.log
. "$here/common.sh"
. "$here/measure.sh"
command -v curl >/dev/null || fail "there is no curl: sudo apt-get install curl"
cd "$work"
head -c 18 /dev/urandom | base64 >pass
mkdir settings

steps=0
step() { steps=$((steps + 1)); quietly "$@"; }
ask() { curl -fsS --unix-socket "$work/run/patchsync.sock" "http://localhost/v1/stores/shop$1" "${@:2}"; }
# run_device: `patchsync run` in the background, until it answers.
run_device() {
    patchsync run --config settings/patchsync.yaml >"$work/run.log" 2>&1 &
    serve_pid=$!
    wait_for "$serve_pid" "$work/run.log" 'answers at'
}
until_phase() {
    for _ in $(seq 600); do
        [[ "$(ask "")" != *"\"phase\":\"$1\""* ]] || return 0
        sleep 0.05
    done
    fail "the store is never $1: $(ask "")"
}

title "From nothing to the first confirmed version"
began=$(now)
step patchsign init --app com.example.storefront --keys Keys --passphrase-file pass
step patchsign release "$here/../Patches/storefront/v1" --keys Keys --output release1 --passphrase-file pass
step patchsrv init --data server --trust Keys --online-key Keys/online.key --passphrase-file pass
step patchsrv publish release1 --data server --passphrase-file pass
: >"$log"
patchsrv serve --data server --passphrase-file pass --port 0 --operators-port 0 --access-log "$log" >patchsrv.log 2>&1 &
server_pid=$!
wait_for "$server_pid" patchsrv.log 'listening on'
server=$(address_of 'listening on') operators=$(address_of 'operators on')
published=$(now)
port=$(free_port)
cat >settings/patchsync.yaml <<END
socket: $work/run/patchsync.sock
stores:
  shop: {store: $work/device, server: "$server", root: $work/Keys/root.json, port: $port, url-file: $work/shop.url}
END
mkdir -m 750 run
run_device
until_phase trying
ask /confirm -X POST >/dev/null
until_phase settled
confirmed=$(now)
ok "$((steps + 3)) commands: $steps, patchsrv serve, patchsync run, and the confirmation, which is the page's where there is one"
cat <<END

| what | seconds |
|---|---:|
| keys, a signed release, a server that offers it | $(seconds "$began" "$published") |
| from the start of \`patchsync run\` to the first confirmed version | $(seconds "$published" "$confirmed") |
END

title "\`explain\`, and the start"
for _ in $(seq "$rounds"); do
    measure version patchsync --version
    measure explain patchsync explain --store device
    measure json patchsync explain web --store device --json
done
stop "$serve_pid" "patchsync run"
first_url=$(cat shop.url)
status=${first_url%%\?*}__patchline/status?${first_url##*\?}
for _ in $(seq "$rounds"); do
    python3 "$here/start.py" "$port" "$status" patchsync run --config settings/patchsync.yaml >>start.time
done
cat <<END

| medians of $rounds | time | CPU | peak memory |
|---|---:|---:|---:|
| \`patchsync explain\`, three patches | $(milliseconds explain) | $(cpu explain) | $(peak explain) |
| \`patchsync explain web --json\` | $(milliseconds json) | $(cpu json) | $(peak json) |
| \`patchsync --version\` | $(milliseconds version) | $(cpu version) | $(peak version) |
| \`patchsync run\`, start to first byte | $(awk '{ print $1 }' start.time | median) ms | | $(awk '{ print $2 }' start.time | median | awk '{ printf "%.0f MB", $1 / 1000 }') |
END

title "A release for $(thousands "$devices") devices"
cat >fleet.yaml <<END
devices:
  - {share: 60%, appVersion: 2.1, data: {region: eu}}
  - {share: 30%, appVersion: 1.9, data: {region: us}}
  - {share: 10%, appVersion: 2.1, consent: security}
END
for _ in 1 2 3; do
    measure simulate patchsign simulate release1 --fleet fleet.yaml --devices "$devices" --dial web@1.0.0=25%
done
printf '\n| | time | CPU | peak memory |\n|---|---:|---:|---:|\n| `patchsign simulate --devices %s`, median of 3 | %s | %s | %s |\n' \
    "$devices" "$(wall simulate)" "$(cpu simulate)" "$(peak simulate)"

title "\`patchsync run\` while nothing happens, for $idle s"
asked=$(log_lines)
run_device
until_phase settled
ask /sync -X POST >/dev/null
printf '\n| time | CPU | times that a thread went to sleep | quiet | memory (its own + of files) | timers that are set then |\n|---|---:|---:|---:|---:|---|\n'
python3 "$here/idle.py" "$serve_pid" "$idle"
log_is_complete
ok "requests: $(($(log_lines) - asked)), $(logged "$asked" | sum_of 3) bytes of bodies"
stop "$serve_pid" "patchsync run"
serve_pid=
