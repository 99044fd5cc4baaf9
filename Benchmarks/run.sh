#!/usr/bin/env bash
# The figures of a large bundle: 10,000 generated files, described, signed, published, synced and updated, each beside a
# stock program that does the least that has to be done, in the same run. Prints the tables of a page in Benchmarks.
#
# usage: Benchmarks/run.sh BIN_DIR       ROUNDS=3 of the long ones, POLLS=15 of the short ones, FILES=10000
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH"
rounds=${ROUNDS:-3}
polls=${POLLS:-15}
files=${FILES:-10000}
app=bench.bundle
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=$work/access.log
began=$SECONDS
. "$here/common.sh"
. "$here/measure.sh"

digests() { measure "$1" bash -c 'cd "$1" && shift && for program in "$@"; do find . -type f -print0 | xargs -0 -n 20000 "$program"; done' - "$work/$2/web" "${@:3}"; }
sign() { # sign NAME N [options]
    rm -rf "$work/release$2"
    measure "$1" patchsign release "$work/v$2" --output "$work/release$2" --keys "$work/keys" --passphrase-file "$work/passphrase" --json "${@:3}"
}
publish() { # with fast forms, and then the small forms and packs
    measure "publish$1" patchsrv publish "$work/release$1" --data "$work/server" --passphrase-file "$work/passphrase"
    measure "optimize$1" patchsrv optimize --data "$work/server"
}
sync() { # sync NAME STORE: and what travelled
    local from
    from=$(log_lines)
    measure "$1" patchsync sync --store "$work/$2"
    log_is_complete
    logged "$from" >"$work/$1.requests"
}
requests() { thousands "$(wc -l <"$work/$1.requests")"; }
bytes() { thousands "$(sum_of 3 <"$work/$1.requests")"; }
other_bytes() { thousands "$(grep -v -E '/(objects|packs)/' "$work/$1.requests" | sum_of 3)"; }

title "A bundle of $files files, and the same with 1 % of them replaced"
for n in 1 2; do
    mkdir -p "$work/v$n"
    cat >"$work/v$n/release.yaml" <<YAML
app: $app
channel: production
patches:
  - {id: web, kind: bundle, version: "$n", folder: web, index: index.html}
YAML
done
python3 "$here/bundles.py" make "$work/v1/web" "$files" one 0
cp -al "$work/v1/web" "$work/v2/web"
python3 "$here/bundles.py" make "$work/v2/web" "$files" two $((files / 100))
total=$(find "$work/v1/web" -type f -printf '%s\n' | sum_of 1)
ok "$(thousands "$files") files, $(thousands "$total") bytes"
head -c 18 /dev/urandom | base64 >"$work/passphrase"
quietly patchsign init --app $app --keys "$work/keys" --passphrase-file "$work/passphrase"

title "Described and signed, $rounds times, each beside sha256sum"
for round in $(seq "$rounds"); do
    digests sha256sum v1 sha256sum
    sign sign 1
    made1=$(count_of signaturesMade) kept1=$(count_of signaturesKept)
    digests digests v1 md5sum sha1sum sha256sum
    digests sha256sum2 v2 sha256sum
    sign resign 2 --previous "$work/release1"
    made2=$(count_of signaturesMade) kept2=$(count_of signaturesKept)
    rm -rf "$work/copy"
    measure copy bash -c 'cp -r "$1" "$2" && sync -f "$2"' - "$work/v1/web" "$work/copy"
    ok "round $round: $(tail -n 1 "$work/sign.time" | cut -d ' ' -f 1) s, $(tail -n 1 "$work/resign.time" | cut -d ' ' -f 1) s; sha256sum $(tail -n 1 "$work/sha256sum.time" | cut -d ' ' -f 1) s"
done
[ "$made1 $kept1" = "$((files + 1)) 0" ] || fail "$made1 signatures made and $kept1 kept from nothing"
# The older version stays listed, with all its signatures.
[ "$made2 $kept2" = "$((files / 100 + 1)) $((files - files / 100 + files + 1))" ] || fail "$made2 signatures made and $kept2 kept with 1 % changed"
# Without -elapsed openssl counts CPU time, which a busy machine hardly changes.
rsa=$(openssl speed -seconds 3 rsa3072 2>/dev/null | awk '/^rsa +3072 bits/ { print $(NF - 1) }')
rsa_cpu=$(awk -v rate="$rsa" -v count="$made1" 'BEGIN { printf "%.2f s", count / rate }')

title "Published and synced"
quietly patchsrv init --data "$work/server" --trust "$work/keys" --online-key "$work/keys/online.key" --passphrase-file "$work/passphrase"
publish 1
start_patchsrv
for round in $(seq "$rounds"); do
    rm -rf "$work/device"
    quietly patchsync init --store "$work/device" --root "$work/keys/root.json" --server "$server"
    sync first device
    published_objects "$work/server" | awk -v server="$server" '{ print "url = \"" server $1 "\"\noutput = /dev/null" }' >"$work/curl.first"
    measure curl.first curl --silent --show-error --fail --parallel --parallel-max 6 --config "$work/curl.first"
    ok "round $round: $(tail -n 1 "$work/first.time" | cut -d ' ' -f 1) s; curl $(tail -n 1 "$work/curl.first.time" | cut -d ' ' -f 1) s"
done
sync nothing device
mapfile -t urls < <(grep -v /targets/ "$work/nothing.requests" | cut -d ' ' -f 1 | sed "s|^|$server|")
[ ${#urls[@]} = 1 ] || fail "a sync with nothing new asked ${#urls[@]} times for metadata: ${urls[*]}"
rm "$work/nothing.time"
for round in $(seq "$polls"); do
    sync nothing device
    measure curl.nothing curl --silent -o /dev/null "${urls[@]}"
done
ok "nothing new: $(milliseconds nothing); curl $(milliseconds curl.nothing)"
publish 2
sync update device
server_peak=$(awk '/VmHWM/ { printf "%.0f MB", $2 / 1000 }' "/proc/$server_pid/status")
quietly patchsync verify --store "$work/device"
stop "$server_pid" "patchsrv serve"
server_pid=

title "The tables"
cat <<TABLE

Describe and sign $(thousands "$files") files, $(thousands "$total") bytes (median of $rounds rounds):

| what | signatures made / kept | time | CPU | peak memory | beside sha256sum |
|---|---:|---:|---:|---:|---:|
| \`patchsign release\`, from nothing | $(thousands "$made1") / $kept1 | $(wall sign) | $(cpu sign) | $(peak sign) | $(ratio sign sha256sum) × |
| \`patchsign release --previous\`, 1 % changed | $(thousands "$made2") / $(thousands "$kept2") | $(wall resign) | $(cpu resign) | $(peak resign) | $(ratio resign sha256sum2) × |
| \`sha256sum\` over the same files | | $(wall sha256sum) | $(cpu sha256sum) | $(peak sha256sum) | 1 |
| \`md5sum\`, \`sha1sum\` and \`sha256sum\` | | $(wall digests) | $(cpu digests) | $(peak digests) | $(ratio digests sha256sum) × |
| \`cp -r\` of the same files, then one \`sync -f\` | | $(wall copy) | $(cpu copy) | $(peak copy) | $(ratio copy sha256sum) × |
| as many RSA-3072 signatures, by \`openssl speed\`'s rate | | | $rsa_cpu | | |

Publish and sync the same bundle over loopback:

| what | requests | bytes | of these metadata, manifest and signatures | time | CPU | peak memory | beside curl |
|---|---:|---:|---:|---:|---:|---:|---:|
| \`patchsrv publish\`, from nothing | | | | $(wall publish1) | $(cpu publish1) | $(peak publish1) | |
| \`patchsrv optimize\` after it | | | | $(wall optimize1) | $(cpu optimize1) | $(peak optimize1) | |
| \`patchsync sync\`, into an empty store | $(requests first) | $(bytes first) | $(other_bytes first) | $(wall first) | $(cpu first) | $(peak first) | $(ratio first curl.first) × |
| \`curl --parallel\`, six at once, the same objects to /dev/null | $(thousands "$files") | $(thousands "$total") | | $(wall curl.first) | $(cpu curl.first) | $(peak curl.first) | 1 |
| \`patchsrv publish\`, 1 % changed | | | | $(wall publish2) | $(cpu publish2) | $(peak publish2) | |
| \`patchsrv optimize\` after it | | | | $(wall optimize2) | $(cpu optimize2) | $(peak optimize2) | |
| \`patchsync sync\`, 1 % changed | $(requests update) | $(bytes update) | $(other_bytes update) | $(wall update) | $(cpu update) | $(peak update) | |
| \`patchsync sync\`, nothing new | $(requests nothing) | $(bytes nothing) | $(other_bytes nothing) | $(milliseconds nothing) | $(cpu nothing) | $(peak nothing) | $(ratio nothing curl.nothing) × |
| \`curl\`, a request for the same metadata | 1 | | | $(milliseconds curl.nothing) | $(cpu curl.nothing) | $(peak curl.nothing) | 1 |

\`patchsrv serve\` needed $server_peak at most. Nothing-new figures are the median of $polls pairs.
TABLE
printf '\n%sDone in %d s.%s\n' "$bold" $((SECONDS - began)) "$plain"
