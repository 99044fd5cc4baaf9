# What the benchmarks share: messages, processes that are waited for, clocks, and what an access log says.
# Sourced after `set -euo pipefail`; needs $work (a folder that is removed at the end) and $log (patchsrv's access log).

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; else bold='' green='' red='' plain=''; fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
ok() { printf '   %s✓%s %s\n' "$green" "$plain" "$1"; }
fail() { printf '   %s✗ %s%s\n' "$red" "$1" "$plain" >&2; exit 1; }

# quietly WORDS… : runs a command; what it prints is shown only when it fails.
quietly() {
    "$@" >"$work/said" 2>&1 || { local code=$?; tail -n 20 "$work/said" | sed 's/^/     /' >&2; fail "exit $code of: $(basename "$1") ${*:2}"; }
}

# wait_for PID FILE PATTERN: until the running program has printed a line like it.
wait_for() {
    local end=$((SECONDS + 60)) code=0
    until { timeout 60 tail -n +1 -f --pid="$1" "$2" 2>/dev/null || true; } | grep -q -m 1 -e "$3"; do
        # A tail that ended too early is begun again.
        if kill -0 "$1" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; then continue; fi
        tail -n 20 "$2" | sed 's/^/     /' >&2
        if kill -0 "$1" 2>/dev/null; then fail "nothing like '$3' within a minute"; fi
        wait "$1" || code=$?
        fail "process $1 ended with $code before it said anything like '$3'"
    done
}

# now: microseconds. seconds FROM [TO]: as 1.23
now() { echo "${EPOCHREALTIME/[.,]/}"; }
seconds() { local spent=$((${2:-$(now)} - $1)); printf '%d.%02d' $((spent / 1000000)) $((spent % 1000000 / 10000)); }

# Patchsrv writes a request's line when its last byte is gone, which the device may see first. This one comes last.
log_is_complete() {
    barrier=$((${barrier:-0} + 1))
    curl -fsS -o /dev/null "$operators/healthz?after=$barrier"
    wait_for "$server_pid" "$log" "/healthz?after=$barrier\""
}
log_lines() { grep -c -v /healthz "$log" || true; }
# logged FROM_LINE: "request-path status bytes" of each request of a device since then.
logged() { grep -v /healthz "$log" | tail -n +$(($1 + 1)) | sed -E 's/^[^"]*"[A-Z]+ ([^"]*)" ([0-9]+) ([0-9]+) .*/\1 \2 \3/'; }
sum_of() { awk -v column="$1" '{ sum += $column } END { print sum + 0 }'; }

# publish_first BITS: signs $work/v1 as the first release of $app with new keys, and publishes it from $work/server.
publish_first() {
    head -c 18 /dev/urandom | base64 >"$work/passphrase"
    local passphrase=(--passphrase-file "$work/passphrase")
    quietly patchsign init --app "$app" --keys "$work/keys" --bits "$1" "${passphrase[@]}"
    quietly patchsign release "$work/v1" --output "$work/release" --keys "$work/keys" "${passphrase[@]}"
    quietly patchsrv init --data "$work/server" --trust "$work/keys" --online-key "$work/keys/online.key" "${passphrase[@]}"
    quietly patchsrv publish "$work/release" --data "$work/server" --optimize "${passphrase[@]}"
}

# published_objects DATA: the path of each object of the one bundle version that a server has.
published_objects() {
    python3 -c '
import glob, json, sys
app, data = sys.argv[1:]
manifest, = glob.glob(f"{data}/tree/{app}/targets/*/*/*/*.manifest.json")
for digest in sorted({row["sha256"] for row in json.load(open(manifest))["assets"]}):
    print(f"/{app}/objects/{digest[:2]}/{digest}")
' "$app" "$1"
}

start_patchsrv() {
    : >"$log"
    patchsrv serve --data "$work/server" --port 0 --operators-port 0 --access-log "$log" >"$work/patchsrv.log" 2>&1 &
    server_pid=$!
    wait_for "$server_pid" "$work/patchsrv.log" 'listening on'
    server=$(address_of 'listening on') operators=$(address_of 'operators on')
}
# address_of WORDS: what patchsrv's line with these words says.
address_of() { sed -n "s/.*$1 \(http[^ ]*\)\$/\1/p" "$work/patchsrv.log" | head -n 1; }
stop() { kill "$1"; wait "$1" || fail "process $1 ($2) did not stop in good order"; }

# page_cookie URL: the cookie that the first URL of `patchsync serve` turns into.
page_cookie() { curl -fsSI "${1%%\?*}__patchline/status?${1##*\?}" | sed -n 's/^[Ss]et-[Cc]ookie: \([^;]*\);.*/\1/p'; }
# serve_to_pages: a device with what was published, without its server; $patchsync_url, and the $cookie that its pages need.
serve_to_pages() {
    local first_url
    start_patchsrv
    quietly patchsync init --store "$work/device" --root "$work/keys/root.json" --server "$server"
    quietly patchsync sync --store "$work/device"
    stop "$server_pid" patchsrv
    server_pid=

    patchsync serve --store "$work/device" --port 0 --no-sync --startup-timeout 3600000 --json "$@" >"$work/patchsync.log" 2>&1 &
    serve_pid=$!
    wait_for "$serve_pid" "$work/patchsync.log" '"url"'
    first_url=$(sed -n 's|.*"url": *"\(http[^"]*\)".*|\1|p' "$work/patchsync.log" | head -n 1)
    patchsync_url=${first_url%%/\?*}
    cookie=$(page_cookie "$first_url")
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start_nginx ROOT [DIRECTIVE]: one worker that serves ROOT under ${pinned[@]}; $nginx_url, and $nginx_pid of the master.
start_nginx() {
    local port
    port=$(free_port)
    cat >"$work/nginx.conf" <<CONF
worker_processes 1;
error_log $work/nginx.log;
pid $work/nginx.pid;
daemon off;
$([ "$(id -u)" = 0 ] && echo 'user root;')
events { worker_connections 4096; }
http {
    types { text/html html; text/css css; text/javascript js; image/svg+xml svg; }
    access_log off;
    sendfile on;
    keepalive_requests 1000000000;
    keepalive_timeout 600;
    client_body_temp_path $work/nginx-body;
    proxy_temp_path $work/nginx-proxy;
    fastcgi_temp_path $work/nginx-fastcgi;
    uwsgi_temp_path $work/nginx-uwsgi;
    scgi_temp_path $work/nginx-scgi;
    server { listen 127.0.0.1:$port; root $1; ${2:-} }
}
CONF
    "${pinned[@]}" nginx -c "$work/nginx.conf" >/dev/null 2>&1 &
    nginx_pid=$!
    nginx_url=http://127.0.0.1:$port
    for _ in $(seq 100); do curl -sS -o /dev/null "$nginx_url/" 2>/dev/null && return; sleep 0.1; done
    fail "nginx does not answer"
}
pinned=()

clean_up() {
    local code=$?
    [ -z "${serve_pid:-}" ] || kill "$serve_pid" 2>/dev/null || true
    [ -z "${server_pid:-}" ] || kill "$server_pid" 2>/dev/null || true
    wait 2>/dev/null || true
    if [ "$code" = 0 ]; then rm -rf "$work"; else echo "the folder stays for a look: $work" >&2; fi
}
server_pid=
serve_pid=
trap clean_up EXIT
