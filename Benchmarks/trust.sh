#!/usr/bin/env bash
# What trust costs: a role of 10,000 targets beside python-tuf, a manifest with its 10,000 signatures beside the Python
# judge and `openssl speed`, and what a poll moves over the wire. Prints the tables of a page in Benchmarks.
#
# usage: Benchmarks/trust.sh BIN_DIR       ROUNDS=7 pairs, COUNT=10000; needs the judges' Python (make bench-trust)
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
rounds=${ROUNDS:-7}
count=${COUNT:-10000}
python=${PATCHLINE_JUDGES_PYTHON:-$PATCHLINE_BUILD/judges/bin/python}
judge=${PATCHLINE_CHECK_TREE:-$here/../../shared/judges/check_tree.py}
app=bench.trust
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=$work/access.log
. "$here/common.sh"
. "$here/measure.sh"

title "A role of $count targets, whole processes, $rounds pairs"
"$python" "$here/role.py" make "$work/repo" "$count"
(cd "$work/repo" && exec python3 -u -m http.server 0 --bind 127.0.0.1) >"$work/http.log" 2>&1 &
serve_pid=$!
wait_for "$serve_pid" "$work/http.log" 'port'
url=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$work/http.log" | head -n 1)/metadata
role_bytes=$(stat -c %s "$work/repo/metadata/1.targets.json")
for round in $(seq "$rounds"); do
    for client in ours theirs; do
        rm -rf "$work/$client"
        mkdir "$work/$client"
        cp "$work/repo/root.json" "$work/$client/root.json"
    done
    measure ours.first patchsync tuf --metadata-dir "$work/ours" --metadata-url "$url" refresh
    measure theirs.first "$python" "$here/role.py" refresh "$url" "$work/theirs"
    measure ours.again patchsync tuf --metadata-dir "$work/ours" --metadata-url "$url" refresh
    measure theirs.again "$python" "$here/role.py" refresh "$url" "$work/theirs"
    measure theirs.start "$python" -c 'import tuf.ngclient'
done
cmp "$work/ours/targets.json" "$work/theirs/targets.json" || fail "the two clients store other bytes"
ok "first $(milliseconds ours.first), python-tuf $(milliseconds theirs.first)"
kill "$serve_pid"
wait "$serve_pid" 2>/dev/null || true
serve_pid=

title "A manifest of $count small files, its signatures made and verified"
mkdir -p "$work/v1/web" "$work/v2/web" "$work/beta"
printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "1", folder: web, index: f0.txt}\n' $app >"$work/v1/release.yaml"
for i in $(seq 0 $((count - 1))); do echo "$i" >"$work/v1/web/f$i.txt"; done
cp -al "$work/v1/web" "$work/v2/"
rm "$work/v2/web/f0.txt"
echo changed >"$work/v2/web/f0.txt"
sed 's/version: "1"/version: "2"/' "$work/v1/release.yaml" >"$work/v2/release.yaml"
printf 'app: %s\nchannel: beta\npatches:\n  - {id: note, kind: script, version: "1", file: note.js}\n' $app >"$work/beta/release.yaml"
echo '// beta' >"$work/beta/note.js"
head -c 18 /dev/urandom | base64 >"$work/passphrase"
quietly patchsign init --app $app --keys "$work/keys" --passphrase-file "$work/passphrase"
keys=(--keys "$work/keys" --passphrase-file "$work/passphrase")
measure sign patchsign release "$work/v1" --output "$work/release1" "${keys[@]}"
quietly patchsrv init --data "$work/server" --trust "$work/keys" --online-key "$work/keys/online.key" --passphrase-file "$work/passphrase"
quietly patchsrv publish "$work/release1" --data "$work/server" --passphrase-file "$work/passphrase"
start_patchsrv
"$python" -u "$here/count.py" "${server##*:}" "$work/counted" >"$work/count.log" 2>&1 &
serve_pid=$!
wait_for "$serve_pid" "$work/count.log" '[0-9]'
quietly patchsync init --store "$work/device" --root "$work/keys/root.json" --server "http://127.0.0.1:$(cat "$work/count.log")"
quietly patchsync sync --store "$work/device"
quietly patchsync init --store "$work/plain" --root "$work/keys/root.json" --server "http://127.0.0.1:$(cat "$work/count.log")" --no-express
quietly patchsync sync --store "$work/plain"
for round in $(seq "$rounds"); do
    measure verify patchsync verify --store "$work/device" --entries
    measure judge "$python" "$judge" "$work/server/tree/$app" "$work/keys/root.json"
    # One core's rates in the same minute; without -elapsed openssl counts CPU time.
    openssl speed -seconds 1 rsa3072 2>/dev/null | awk '/^rsa +3072 bits/ { print $(NF - 1), $NF }' >>"$work/rates"
done
sign_rate=$(awk '{ print $1 }' "$work/rates" | median)
verify_rate=$(awk '{ print $2 }' "$work/rates" | median)
share() { awk -v rate="$2" -v count="$((count + 1))" -v cpu="$(column "$1" 2)" 'BEGIN { printf "%.0f %%", 100 * count / rate / cpu }'; }
ok "signed in $(wall sign), verified in $(wall verify); openssl speed: $sign_rate and $verify_rate a second"

title "What a poll moves"
poll() { # poll NAME
    poll_of device "$1"
    poll_of plain "$1, file by file"
}
poll_of() { # poll_of DEVICE NAME
    local lines before after
    lines=$(log_lines)
    before=$(cat "$work/counted" 2>/dev/null || echo "0 0 0")
    quietly patchsync sync --store "$work/$1"
    log_is_complete
    after=$(cat "$work/counted")
    while [ "$after" = "$before" ]; do sleep 0.05; after=$(cat "$work/counted"); done
    printf '| %s | %d | %s | %s |\n' "$2" "$(($(log_lines) - lines))" \
        "$(thousands "$(awk -v a="$before" '{ split(a, b); print $2 - b[2] }' <<<"$after")")" \
        "$(thousands "$(awk -v a="$before" '{ split(a, b); print $3 - b[3] }' <<<"$after")")" >>"$work/polls"
    tail -n 1 "$work/polls"
}
poll 'nothing changed'
quietly patchsrv refresh --data "$work/server" --passphrase-file "$work/passphrase"
poll 'the server signed its roles again'
quietly patchsign release "$work/beta" --output "$work/release-beta" "${keys[@]}"
quietly patchsrv publish "$work/release-beta" --data "$work/server" --passphrase-file "$work/passphrase"
poll 'the other channel released'
quietly patchsign release "$work/v2" --output "$work/release2" --previous "$work/release1" "${keys[@]}"
quietly patchsrv publish "$work/release2" --data "$work/server" --passphrase-file "$work/passphrase"
poll "our channel released, 1 of $(thousands "$count") files changed"
stop "$server_pid" "patchsrv serve"
server_pid=

title "The tables"
cat <<TABLE

A TUF role of $(thousands "$count") targets ($(thousands "$role_bytes") bytes, RSA-3072), whole processes, median of $rounds pairs:

| what | time | CPU | peak memory | beside python-tuf |
|---|---:|---:|---:|---:|
| \`patchsync tuf … refresh\`, first | $(milliseconds ours.first) | $(cpu ours.first) | $(peak ours.first) | $(ratio ours.first theirs.first) × |
| python-tuf's client, first | $(milliseconds theirs.first) | $(cpu theirs.first) | $(peak theirs.first) | 1 |
| \`patchsync tuf … refresh\`, nothing new | $(milliseconds ours.again) | $(cpu ours.again) | $(peak ours.again) | $(ratio ours.again theirs.again) × |
| python-tuf's client, nothing new | $(milliseconds theirs.again) | $(cpu theirs.again) | $(peak theirs.again) | 1 |
| python and its imports alone | $(milliseconds theirs.start) | $(cpu theirs.start) | $(peak theirs.start) | |

A manifest of $(thousands "$count") small files with $(thousands $((count + 1))) RSA-3072 signatures:

| what | time | CPU | peak memory | of \`openssl speed\`'s rate |
|---|---:|---:|---:|---:|
| \`patchsign release\`: files read, described, signed, written | $(wall sign) | $(cpu sign) | $(peak sign) | $(share sign "$sign_rate") |
| \`patchsync verify --entries\`: every file hashed, every signature verified | $(wall verify) | $(cpu verify) | $(peak verify) | $(share verify "$verify_rate") |
| check_tree.py: the same in Python, over the published tree | $(wall judge) | $(cpu judge) | $(peak judge) | $(share judge "$verify_rate") |

\`openssl speed rsa3072\` on one core: $sign_rate signatures and $verify_rate verifications a second. The share is signatures over rate over CPU time.

A sync over HTTP, heads and bodies counted on the wire:

| what | requests | bytes up | bytes down |
|---|---:|---:|---:|
$(cat "$work/polls")
TABLE
