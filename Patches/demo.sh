#!/usr/bin/env bash
# The main job on real processes and sockets: a folder becomes a signed release, a device gets it, runs it, and takes it
# back when it fails. Every step checks what it shows; the first thing that is not as it should be ends the demo.
#
# usage: Patches/demo.sh BIN_DIR        KEEP=1 leaves both servers running
#        AFTER_STEP=CMD                 runs `CMD APP_DIR ROOT_JSON STEP` after each step that has a published tree
set -euo pipefail
patches=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
app=com.example.storefront
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-demo.XXXXXX")
store=$work/device
data=$work/server
keys=$work/keys
tree=$data/tree/$app
log=$work/access.log
server_pid=
serve_pid=
service_pid=
step=0
began=$SECONDS

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; else bold='' green='' red='' plain=''; fi

title() { step=$((step + 1)); printf '\n%s%d. %s%s\n' "$bold" "$step" "$1" "$plain"; }
run() { printf '   $ %s\n' "${*//$work\//}"; "$@" 2>&1 | sed 's/^/     /'; }
ok() { printf '   %s✓%s %s\n' "$green" "$plain" "$1"; }
fail() { printf '   %s✗ %s%s\n' "$red" "$1" "$plain" >&2; exit 1; }

cleanup() {
    local code=$?
    if [ "$code" = 0 ] && [ "${KEEP:-}" = 1 ]; then return; fi
    [ -z "$service_pid" ] || kill "$service_pid" 2>/dev/null || true
    [ -z "$serve_pid" ] || kill "$serve_pid" 2>/dev/null || true
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    wait 2>/dev/null || true
    if [ "$code" = 0 ]; then rm -rf "$work"; else echo "the demo's folder stays for a look: $work" >&2; fi
}
trap cleanup EXIT

# wait_for FILE PATTERN: until a line appears in what a running program prints.
wait_for() {
    local tries=0
    until grep -q -- "$2" "$1" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { cat "$1" >&2; fail "nothing like '$2' within a minute"; }
        sleep 0.1
    done
}
after_step() { [ -z "${AFTER_STEP:-}" ] || $AFTER_STEP "$tree" "$keys/root.json" "$step"; }
expect_status() {
    local shown
    shown=$(patchsync status --store "$store")
    printf '%s\n' "$shown" | sed 's/^/     /'
    for pattern in "$@"; do grep -Eq -- "$pattern" <<<"$shown" || fail "the status does not show: $pattern"; done
}
page_version() { curl -fsS -b "$cookie" "$1" | sed -n 's/.*<meta name="version" content="\([^"]*\)".*/\1/p'; }
expect_page() { local found; found=$(page_version "$page$1"); [ "$found" = "$2" ] || fail "$page$1 shows version '$found', not $2"; ok "$page$1 shows version $2"; }
# report_shown VERSION: the report of the page's own inline script, which curl does not run.
report_shown() {
    local stamp
    stamp=$(curl -fsS -b "$cookie" "$page/" | sed -n 's/.*data-patchline="\([0-9a-f]\{32\}\)".*/\1/p')
    curl -fsS -o /dev/null -b "$cookie" -d "{\"page\": \"$stamp\", \"version\": \"$1\", \"age\": 0, \"reloads\": 0}" "$page/__patchline/shown" ||
        fail "the device takes no report of version $1"
}
# expect_script ID FILE: the device gives this script out, under its digest; without FILE, not at all.
expect_script() {
    local sha
    if [ $# = 1 ]; then
        [ "$(curl -sS -o /dev/null -w '%{http_code}' -b "$cookie" "$page/__patchline/scripts/$1.js")" = 503 ] || fail "$1 is given out"
        ok "/__patchline/scripts/$1.js: refused, its bytes are not the signed ones"
        return
    fi
    curl -fsS -D "$work/head" -o "$work/script" -b "$cookie" "$page/__patchline/scripts/$1.js" || fail "$1 is not given out"
    cmp -s "$work/script" "$2" || fail "$1 is another script"
    sha=$(sha256sum "$2" | cut -c1-64)
    grep -qi "^etag: \"$sha\"" "$work/head" || fail "$1 has another tag than its digest"
    ok "/__patchline/scripts/$1.js: the signed bytes, for the page to run; ETag ${sha:0:12}…"
}
# expect_put VERSION: the cart's page comes with this version of its fix, before its own scripts; without VERSION, as it is.
expect_put() {
    local found
    found=$(curl -fsS -b "$cookie" "$page/cart" | sed -n 's/.*<script[^>]*language.js[^>]*><.script><script[^>]*data-patch="fix-cart-total" data-version="\([^"]*\)".*/\1/p')
    [ "$found" = "${1:-}" ] || fail "$page/cart comes with '$found' of fix-cart-total, not '${1:-}'"
    if [ -n "$found" ]; then ok "$page/cart comes with fix-cart-total $1 before its own scripts"; else ok "$page/cart comes as it is: its script is damaged"; fi
}
release() { # release N [options]
    local n=$1; shift
    run patchsign release "$patches/storefront/v$n" --output "$work/release$n" --keys "$keys" --passphrase-file "$work/passphrase" "$@"
}
publish() { run patchsrv publish "$work/release$1" --optimize --data "$data" --passphrase-file "$work/passphrase"; }
start_serve() { # start_serve MILLISECONDS [OPTION…]
    : >"$work/serve.log"
    patchsync serve --store "$store" --port "${serve_port:-0}" --startup-timeout "$@" >"$work/serve.log" 2>&1 &
    serve_pid=$!
    wait_for "$work/serve.log" 'listening on'
    # The first URL carries the access token, which becomes a cookie of this launch.
    first_url=$(sed -n 's/.*listening on \(http[^ ]*\)$/\1/p' "$work/serve.log" | head -n 1)
    page=${first_url%%/\?*}
    serve_port=${page##*:}
    cookie=$(curl -fsSI "$page/__patchline/status?${first_url##*\?}" | sed -n 's/^[Ss]et-[Cc]ookie: \([^;]*\);.*/\1/p')
    sed 's/^/     /' "$work/serve.log"
}
stop_serve() { kill "$serve_pid"; wait "$serve_pid" || fail "patchsync serve did not stop in good order"; serve_pid=; }
launch_token() { # for its owner alone to read: a command line is for every user of the machine
    (umask 077; sed -n 's/.*confirm: echo \([0-9a-f]\{32\}\) .*/\1/p' "$work/serve.log" | tail -n 1 >"$work/launch")
}
object_of() { local sha; sha=$(sha256sum "$1" | cut -c1-64); echo "$tree/objects/${sha:0:2}/$sha"; }

printf '%sPatchline: the main job, end to end%s\n' "$bold" "$plain"
echo "   in $work"
(umask 077; head -c 18 /dev/urandom | base64 >"$work/passphrase")

title "Keys and the root of trust"
run patchsign init --app $app --keys "$keys" --passphrase-file "$work/passphrase"
[ -f "$keys/root.json" ] || fail "no root of trust"
grep -q 'BEGIN ENCRYPTED PRIVATE KEY' "$keys"/*.key || fail "a private key is not encrypted"

title "Version 1 is described, signed and published"
release 1
run patchsrv init --data "$data" --trust "$keys" --online-key "$keys/online.key" --passphrase-file "$work/passphrase"
publish 1
[ -f "$tree/metadata/timestamp.json" ] || fail "nothing was published"
after_step

title "The server runs"
patchsrv serve --data "$data" --port 0 --operators-port 0 --access-log "$log" >"$work/patchsrv.log" 2>&1 &
server_pid=$!
wait_for "$work/patchsrv.log" 'listening on'
server=$(sed -n 's/.*listening on \(http[^ ]*\)$/\1/p' "$work/patchsrv.log" | head -n 1)
operators=$(sed -n 's/.*operators on \(http[^ ]*\)$/\1/p' "$work/patchsrv.log" | head -n 1)
ok "$(curl -fsS "$operators/healthz") from $operators/healthz, where operators ask; devices ask $server"
after_step

title "A device syncs into an empty store, serves the bundle and confirms it"
run patchsync init --store "$store" --root "$keys/root.json" --server "$server"
run patchsync sync --store "$store"
expect_status 'fix-cart-total +script +1 .* UnInstall' 'fix-search +script +1 .* UnInstall' 'web +bundle +1\.0\.0 .* UnInstall'
start_serve 60000
expect_page / 1.0.0
expect_page /cart 1.0.0
expect_put 1
expect_script fix-cart-total "$patches/storefront/v1/scripts/fix-cart-total.js"
launch_token
run patchsync confirm --store "$store" --launch-file "$work/launch"
expect_status 'fix-cart-total +script +1 .* Success' 'fix-search +script +1 .* Success' 'web +bundle +1\.0\.0 .* Success' settled
after_step

title "A file of the store is deleted, another altered; both heal"
deleted=$(sha256sum "$patches/storefront/v1/scripts/fix-search.js" | cut -c1-64)
altered=$(sha256sum "$patches/storefront/v1/scripts/fix-cart-total.js" | cut -c1-64)
rm "$store/objects/${deleted:0:2}/$deleted"
chmod u+w "$store/objects/${altered:0:2}/$altered"
echo '// altered' >>"$store/objects/${altered:0:2}/$altered"
expect_status 'fix-search +script +1 .* FileNotExist' 'fix-cart-total +script +1 .* FileNotMatch'
expect_script fix-cart-total
expect_put
run patchsync sync --store "$store"
expect_status 'fix-search +script +1 .* Success' 'fix-cart-total +script +1 .* Success'
expect_script fix-cart-total "$patches/storefront/v1/scripts/fix-cart-total.js"
expect_put 1
ok "both are whole again"
after_step

title "Version 2: a pack from version 1 and a changed script travel, and it is served after the switch"
release 2 --previous "$work/release1"
publish 2
before=$(wc -l <"$log")
run patchsync sync --store "$store"
expect_status 'web +bundle +1\.0\.0 .* Success' 'web +bundle +2\.0\.0 .* UnInstall' 'fix-cart-total +script +2 .* UnInstall'
new=$(comm -13 <(cd "$patches/storefront/v1" && find . -type f -not -name release.yaml -exec sha256sum {} + | cut -c1-64 | sort -u) \
    <(cd "$patches/storefront/v2" && find . -type f -not -name release.yaml -exec sha256sum {} + | cut -c1-64 | sort -u) | wc -l)
# A line is written after the last byte of its answer, so the last ones may still be on their way.
curl -fsS "$operators/healthz?counted" >/dev/null
wait_for "$log" 'healthz?counted'
tail -n +$((before + 1)) "$log" >"$work/update.log"
requested=$(grep -c '/objects/' "$work/update.log") || true
packs=$(grep -cE '/packs/[0-9a-f]{64}/from-[0-9a-f]{64}\.signed"' "$work/update.log") || true
bytes=$(awk -F '"' '/\/(objects|packs)\//{split($3, field, " "); sum += field[2]} END {print sum + 0}' "$work/update.log")
# The bundle's pack with its signatures, and the script by itself.
{ [ "$packs" = 1 ] && [ "$requested" = 1 ]; } || fail "$packs packs and $requested objects travelled, $new changed"
ok "the server's access log: $requested object and $packs pack with its signatures, $bytes bytes, of $(find "$patches/storefront/v2" -type f -not -name release.yaml | wc -l) files"
expect_page / 1.0.0
run patchsync switch --store "$store"
wait_for "$work/serve.log" 'web 2\.0\.0'
expect_page / 2.0.0
launch_token
run patchsync confirm --store "$store" --launch-file "$work/launch"
expect_status 'web +bundle +2\.0\.0 .* Success' 'fix-cart-total +script +2 .* Success' settled
expect_put 2
after_step

title "Version 3 is published, and one of its objects is flipped on the server"
release 3 --previous "$work/release2"
publish 3
after_step
victim=$(object_of "$patches/storefront/v3/web/app/wishlist.js")
cp -p "$victim" "$work/original"
chmod u+w "$victim"
# A device takes the compressed form where there is one, and the file itself where that is wrong.
rm -f "$victim.zst" "$victim.gz"
# The pack from version 2 has what is right.
find "$(dirname "$(dirname "$(dirname "$victim")")")/packs" -name 'from-*' -delete
printf '\x00' | dd of="$victim" bs=1 seek=10 conv=notrunc status=none
if patchsync sync --store "$store" >"$work/refused.log" 2>&1; then fail "the flipped object was taken"; fi
sed 's/^/     /' "$work/refused.log"
grep -q 'web 3\.0\.0.*app/wishlist\.js' "$work/refused.log" || fail "the refusal does not name the file"
expect_page / 2.0.0
cp "$work/original" "$victim"
ok "refused by name; version 2 keeps running; the object is restored"
after_step

title "Version 3 never confirms: the device takes it back by itself"
stop_serve
start_serve 1000
for attempt in 1 2; do
    if [ $attempt = 1 ]; then run patchsync sync --store "$store"; else
        run patchsync sync --store "$store"
        expect_status 'next try after'
        run patchsync sync --store "$store" --retry-failed
    fi
    run patchsync switch --store "$store"
    # Its time begins when a page of it is shown.
    tries=0
    until [ "$(page_version "$page/")" = 3.0.0 ]; do
        tries=$((tries + 1)); [ $tries -lt 600 ] || fail "no page of version 3 within a minute"; sleep 0.1
    done
    report_shown 3.0.0
    ok "$page/ shows version 3.0.0, which throws before it confirms"
    tries=0
    until [ "$(grep -c 'rolled back to' "$work/serve.log")" = $attempt ]; do
        tries=$((tries + 1)); [ $tries -lt 600 ] || fail "no rollback within a minute"; sleep 0.1
    done
    expect_page / 2.0.0
    if [ $attempt = 1 ]; then expect_status 'web 3\.0\.0: .*next try after 20' settled; else expect_status 'web 3\.0\.0: .*blocked until 20' settled; fi
done
ok "rolled back twice; blocked until a date"
after_step

title "A patch is withdrawn and is gone at the next launch"
run patchsign withdraw fix-search --previous "$work/release3" --output "$work/release4" --keys "$keys" --passphrase-file "$work/passphrase"
publish 4
run patchsync sync --store "$store"
expect_status 'fix-search +script +1 .* Success'
stop_serve
start_serve 20000
if patchsync status --store "$store" | grep -q fix-search; then fail "fix-search is still there"; fi
expect_status 'web +bundle +2\.0\.0 .* Success' 'fix-cart-total +script +2 .* Success' settled
run patchsync verify --store "$store" --entries
after_step

title "A Swift service with a wrong total is patched while it runs, and gets its own code back"
expect_total() { # cents for three tumblers
    local found
    found=$(curl -fsS "$service/total?product=field-tumbler&quantity=3") || fail "the service does not answer"
    [ "$found" = "$1" ] || fail "three tumblers cost $found, not $1"
    ok "$service/total?product=field-tumbler&quantity=3: $found cents"
}
run patchsign release "$patches/service" --output "$work/service1" --keys "$keys" --passphrase-file "$work/passphrase"
run patchsrv publish "$work/service1" --data "$data" --passphrase-file "$work/passphrase"
run patchsync init --store "$work/machine" --root "$keys/root.json" --server "$server" --channel beta
ShopService "$work/machine" >"$work/service.log" 2>&1 &
service_pid=$!
wait_for "$work/service.log" 'listening on port'
service=http://127.0.0.1:$(sed -n 's/.*listening on port \([0-9]*\)$/\1/p' "$work/service.log")
expect_total 5975
run patchsync sync --store "$work/machine"
wait_for "$work/service.log" 'patches: fix-service-total 1 Success'
wait_for "$work/service.log" 'confirmed: fix-service-total 1'
expect_total 5976
run patchsign withdraw fix-service-total --previous "$work/service1" --output "$work/service2" --keys "$keys" --passphrase-file "$work/passphrase"
run patchsrv publish "$work/service2" --data "$data" --passphrase-file "$work/passphrase"
run patchsync sync --store "$work/machine"
tries=0
until [ "$(grep -c '^patches: $' "$work/service.log")" -ge 2 ]; do
    tries=$((tries + 1)); [ $tries -lt 600 ] || fail "the patch is not gone within a minute"; sleep 0.1
done
expect_total 5975
sed 's/^/     /' "$work/service.log"
after_step

title "A live page costs what changed of it, and the device shows it at once"
# offers [HEADER]…: asks the service as a client that keeps pages does.
offers() { curl -fsS -D "$work/head" -o "$work/body" -H 'accept-diff: true' "${@/#/-H}" "$service/offers"; }
field() { sed -n "s/^$1: \(.*\)\r$/\1/Ip" "$work/head"; }
offers
whole=$(wc -c <"$work/body")
offers "If-None-Match: $(field etag)" "template-tag: $(field template-tag)"
[ "$(field template-change)" = false ] || fail "the template of /offers is another one"
sed 's/^/     /' "$work/body" && echo
ok "of $whole bytes of page, $(wc -c <"$work/body") travel"
cat >"$work/proxies.json" <<JSON
{"format": "patchline-proxies-v1", "rules": [{"pattern": "/offers", "to": ["$service"], "pages": {}}]}
JSON
stop_serve
start_serve 20000 --proxies "$work/proxies.json"
visits() { curl -fsS -b "$cookie" -H 'Sec-Fetch-Dest: document' "$page/offers" | sed -n 's/.*<output id="visits">\([0-9]*\)<.*/\1/p'; }
outcome() { curl -fsS -b "$cookie" "$page/__patchline/page?path=/offers"; }
first=$(visits)
outcome >"$work/outcome"
grep -q '"code":1000' "$work/outcome" || fail "the first visit was none: $(cat "$work/outcome")"
[ "$(visits)" = "$first" ] || fail "the second visit does not show the kept page"
outcome >"$work/outcome"
sed 's/^/     /' "$work/outcome" && echo
grep -q "\"code\":200.*>$((first + 1))<" "$work/outcome" || fail "the page is not told what has changed"
ok "$page/offers was shown as it was kept, and then told the one block that changed"
kill "$service_pid"
wait "$service_pid" || fail "the service did not stop in good order"
service_pid=
[ "$(visits)" = $((first + 1)) ] || fail "without its server the page is not shown"
ok "without its server it is shown as it was last"
after_step

printf '\n%sDone in %d s.%s Eleven steps: signed, published, synced, served, healed, updated, refused, rolled back, withdrawn, patched in a program, kept live.\n' "$bold" $((SECONDS - began)) "$plain"
if [ "${KEEP:-}" = 1 ]; then
    echo "   the release server:  $server/  (process $server_pid)"
    echo "   the device's pages:  $first_url  (process $serve_pid)"
    echo "   everything is in $work; stop both with: kill $server_pid $serve_pid"
fi
