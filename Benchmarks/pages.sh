#!/usr/bin/env bash
# Live pages: what finds their marks beside regular expressions in node; what `patchsrv pages` adds to a request beside nginx's
# proxy_pass; bytes and first paint in a headless Chromium over 1 Mbit/s and 100 ms. Prints the tables of a page in Benchmarks.
#
# usage: Benchmarks/pages.sh BIN_DIR PAGES       a folder of NAME.old.html and NAME.new.html, marked by mark_pages.py
#        ROUNDS=5 SECONDS_EACH=3 LOADS=5 SERVER_CORE=0 LOAD_CORE=1 PYTHON=python3 (with playwright)
#        PARTS='splitter proxy browser' PATCHLINE_BUILD_SPLITTER=DIR
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
pages=$(cd "$2" && pwd)
export PATH="$bin:$PATH:/usr/sbin"
rounds=${ROUNDS:-5}
seconds_each=${SECONDS_EACH:-3}
server_core=${SERVER_CORE:-0}
load_core=${LOAD_CORE:-1}
python=${PYTHON:-python3}
parts=${PARTS:-splitter proxy browser}
app=bench.pages
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
. "$here/measure.sh"
for tool in nginx wrk curl taskset python3 node chromium; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install nginx-light wrk curl util-linux python3 nodejs chromium"
done
ls "$pages"/*.new.html >/dev/null || fail "there is no NAME.new.html in $pages"
pids=()
end_all() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    clean_up
}
trap end_all EXIT

# started NAME COMMAND…: runs it until the end; its address is in $address.
started() {
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
    pids+=("$!")
    wait_for "$!" "$work/$name.log" 'listening on'
    address=$(sed -n 's/.*listening on \(http[^ ]*\)$/\1/p' "$work/$name.log" | head -n 1)
}

if [[ $parts = *splitter* ]]; then
    title "The splitter, a second for each page"
    build=${PATCHLINE_BUILD_SPLITTER:-$work/splitter}
    (cd "$here/.." && PATCHLINE_BENCH=1 quietly swift build -c release --scratch-path "$build" --product splitter)
    echo '| page | bytes | node, MB/s | ours, MB/s | ratio | node with both tags | ours with both tags | ratio |'
    echo '|---|---:|---:|---:|---:|---:|---:|---:|'
    for file in "$pages"/*.new.html; do
        read -r size node_marks node_tags < <(taskset -c "$load_core" node "$here/splitter.mjs" "$file")
        read -r _ marks tags < <(taskset -c "$load_core" "$build/release/splitter" "$file")
        awk -v name="$(basename "$file" .new.html)" -v size="$size" -v a="$node_marks" -v b="$marks" -v c="$node_tags" -v d="$tags" \
            'BEGIN { printf "| %s | %d | %d | %d | %.1f | %d | %d | %.1f |\n", name, size, a, b, b / a, c, d, d / c }'
    done
fi

if [[ $parts = *proxy* ]]; then
    # Everything is answered from memory by one nginx, which another nginx and patchsrv stand in front of.
    mkdir -p "$work/www" "$work/nginx"
    head -c 700 /dev/urandom | base64 -w 0 >"$work/www/data.json"
    cp "$(ls -S "$pages"/*.new.html | tail -n 1)" "$work/www/page.html"
    site_port=$(free_port)
    front_port=$(free_port)
    cat >"$work/nginx.conf" <<CONF
$([ "$(id -u)" != 0 ] || echo 'user root;')
daemon off; worker_processes 1; pid $work/nginx/pid; error_log $work/nginx/error.log;
events { worker_connections 1024; }
http {
    access_log off; include /etc/nginx/mime.types; keepalive_requests 1000000; open_file_cache max=100;
    client_body_temp_path $work/nginx; proxy_temp_path $work/nginx; fastcgi_temp_path $work/nginx;
    uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
    upstream site { server 127.0.0.1:$site_port; keepalive 64; }
    server { listen 127.0.0.1:$site_port; root $work/www; }
    server { listen 127.0.0.1:$front_port; location / { proxy_pass http://site; proxy_http_version 1.1; proxy_set_header Connection ""; } }
}
CONF
    taskset -c "$server_core" nginx -c "$work/nginx.conf" -p "$work/nginx" >"$work/said" 2>&1 &
    pids+=("$!")
    nginx_url=http://127.0.0.1:$front_port
    for try in $(seq 100); do ! curl -fsS -o /dev/null "$nginx_url/data.json" 2>/dev/null || break; sleep 0.1; kill -0 "${pids[-1]}" || fail "nginx ended: $(cat "$work/said" "$work/nginx/error.log")"; done
    started proxy taskset -c "$server_core" patchsrv pages --upstream "http://127.0.0.1:$site_port" --port 0
    patchsrv_url=$address
    tags=(-H 'accept-diff: true' -H "template-tag: $(curl -fsSI -X GET -H 'accept-diff: true' "$patchsrv_url/page.html" | tr -d '\r' | sed -n 's/^template-tag: //p')")
    curl -fsS "${tags[@]}" "$patchsrv_url/page.html" | grep -q '^{"data":' || fail "no data update of $patchsrv_url/page.html"

    # load SERVER CASE CONNECTIONS NAME HEADER…: adds the microseconds of a request, on the average, to $work/SERVER.CASE
    load() {
        local server=$1 case=$2 connections=$3 url=${1}_url
        taskset -c "$load_core" wrk -t 1 -c "$connections" -d "${seconds_each}s" "${@:5}" "${!url}/$4" >"$work/said"
        ! grep -E 'Socket errors|Non-2xx' "$work/said" || fail "$server, $case"
        awk -v connections="$connections" '/^Requests\/sec/ { print 1e6 * connections / $2 }' "$work/said" >>"$work/$server.$case"
    }
    title "A request through a proxy: $rounds rounds of $seconds_each seconds each; site and proxies on core $server_core, load on core $load_core"
    for round in $(seq "$rounds"); do
        for connections in 1 16; do
            for server in nginx patchsrv; do
                load $server "data.$connections" $connections data.json
                load $server "page.$connections" $connections page.html
            done
            load patchsrv "update.$connections" $connections page.html "${tags[@]}"
        done
        ok "round $round"
    done
    echo
    echo "| microseconds of a request | connections | nginx | patchsrv pages | ratio |"
    echo '|---|---:|---:|---:|---:|'
    for connections in 1 16; do
        for case in data page update; do
            beside=$([ $case = update ] && echo page || echo $case)
            share=$(paste "$work/patchsrv.$case.$connections" "$work/nginx.$beside.$connections" | awk '{ print $1 / $2 }' | median)
            printf '| %s | %d | %.0f | %.0f | %.2f |\n' $case $connections "$(median <"$work/nginx.$beside.$connections")" "$(median <"$work/patchsrv.$case.$connections")" "$share"
        done
    done
fi

if [[ $parts = *browser* ]]; then
    title "A headless Chromium over 1 Mbit/s and 100 ms, ${LOADS:-5} loads of each, each in a new profile"
    "$python" -c 'import playwright' 2>/dev/null || fail "$python has no playwright: pip install playwright, or PYTHON=…"
    started site python3 "$here/live_site.py" "$pages"
    site_url=$address
    started pages patchsrv pages --upstream "$site_url" --port 0
    pages_url=$address
    started plain_link python3 "$here/slow_link.py" "${site_url##*:}"
    plain_link=$address
    started pages_link python3 "$here/slow_link.py" "${pages_url##*:}"
    pages_link=$address
    mkdir -p "$work/v1/web"
    echo '<!doctype html><title>The app</title>' >"$work/v1/web/index.html"
    printf 'app: %s\nchannel: production\npatches: [{id: web, kind: bundle, version: "1", folder: web}]\n' $app >"$work/v1/release.yaml"
    names=$(cd "$pages" && printf '%s|' *.old.html | sed 's/\.old\.html//g; s/|$//')
    cat >"$work/proxies.json" <<JSON
{"format": "patchline-proxies-v1", "rules": [{"pattern": "/($names)", "to": ["$pages_link"], "pages": {}}]}
JSON
    publish_first 2048
    log=$work/access.log
    serve_to_pages --proxies "$work/proxies.json"
    pids+=("$serve_pid")
    "$python" "$here/pages.py" "$pages" "$site_url" "$plain_link" "$pages_link" "$patchsync_url" "$cookie" "${LOADS:-5}"
fi
