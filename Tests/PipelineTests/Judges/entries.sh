#!/usr/bin/env bash
# Verifies every entry of a published list and every asset of its manifests with openssl and coreutils alone.
#
# usage: entries.sh APP_DIR CHANNEL        APP_DIR holds metadata/, targets/ and objects/
#
# One line for each entry, `ok NAME` or `WRONG NAME: what`; then a count. Ends with 1 when anything is wrong. The role itself
# is not verified here (check_tree.py and python-tuf do that): this shows that entries need no more than a shell.
set -euo pipefail
cd "$1"
channel=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
app=$(basename "$PWD")
good=0 bad=0

# field NAME ROW: the value of a member of canonical JSON without objects in it.
field() { local rest=${2#*\"$1\":}; rest=${rest#\"}; printf '%s' "${rest%%[\",\}]*}"; }
# rows FILE: one line for each object that has an md5.
rows() { sed 's/{"/\n{"/g' "$1" | grep '"md5":"'; }

role=$(ls metadata/*."$channel".json | sort -t/ -k2n | tail -n 1)
for id in $(grep -o '"[0-9a-f]\{64\}":{"keytype":"rsa"' "$role" | cut -c2-65); do
    printf '%b' "$(sed "s/.*\"$id\":{\"keytype\":\"rsa\",\"keyval\":{\"public\":\"//; s/\".*//" "$role")" >"$work/$id.pem"
done

# check NAME FILE ROW KEYID SIGNATURE_FILE: the statement is in $work/statement.
check() {
    local wrong=
    [ "$(stat -c %s "$2" 2>/dev/null)" = "$(field size "$3")" ] || wrong+=' size'
    printf '%s  %s\n' "$(field md5 "$3")" "$2" | md5sum --check --status 2>/dev/null || wrong+=' md5'
    printf '%s  %s\n' "$(field sha1 "$3")" "$2" | sha1sum --check --status 2>/dev/null || wrong+=' sha1'
    printf '%s  %s\n' "$(field sha256 "$3")" "$2" | sha256sum --check --status 2>/dev/null || wrong+=' sha256'
    openssl dgst -sha256 -verify "$work/$4.pem" -signature "$5" "$work/statement" >/dev/null 2>&1 || wrong+=' signature'
    if [ -z "$wrong" ]; then good=$((good + 1)); echo "ok $1"; else bad=$((bad + 1)); echo "WRONG $1:$wrong"; fi
}

list=$(ls -t targets/"$channel"/*.patchlist.json | head -n 1)
for name in targets/"$channel"/*.patchlist.json; do
    if grep -q "\"$channel/patchlist.json\":{\"hashes\":{\"sha256\":\"$(basename "$name" .patchlist.json)\"" "$role"; then list=$name; fi
done
while IFS= read -r row; do
    id=$(field patchId "$row") version=$(field version "${row##*\"url\":}") kind=$(field kind "$row")
    printf 'patchline-patch-v1\n{"app":"%s","channel":"%s","kind":"%s","md5":"%s","patchId":"%s","sha1":"%s","sha256":"%s","size":%s,"version":"%s"}' \
        "$app" "$channel" "$kind" "$(field md5 "$row")" "$id" "$(field sha1 "$row")" "$(field sha256 "$row")" \
        "$(field size "${row##*\"sig\":}")" "$version" >"$work/statement"
    field sig "$row" | base64 -d >"$work/signature" 2>/dev/null || true
    check "$id $version" "$(field url "$row")" "${row/\"signature\"*\"size\"/\"size\"}" "$(field keyid "$row")" "$work/signature"
    [ "$kind" = bundle ] || continue
    manifest=$(field url "$row")
    for column in "$(dirname "$manifest")"/*.manifest.sigs; do
        grep -q "\"$(basename "$column" .manifest.sigs)\"" "$role" && break
    done
    keyid=$(head -c 40 "$column" | tail -c 32 | od -An -v -tx1 | tr -d ' \n')
    length=$((16#$(head -c 42 "$column" | tail -c 2 | od -An -tx1 | tr -d ' \n')))
    place=46
    while IFS= read -r asset; do
        path=$(field path "$asset") sha256=$(field sha256 "$asset")
        printf 'patchline-asset-v1\n{"app":"%s","md5":"%s","patchId":"%s","path":"%s","sha1":"%s","sha256":"%s","size":%s}' \
            "$app" "$(field md5 "$asset")" "$id" "$path" "$(field sha1 "$asset")" "$sha256" "$(field size "$asset")" >"$work/statement"
        tail -c "+$((place + 1))" "$column" | head -c "$length" >"$work/signature"
        place=$((place + length))
        check "$id $version $path" "objects/${sha256:0:2}/$sha256" "$asset" "$keyid" "$work/signature"
    done < <(rows "$manifest")
done < <(sed 's/{"kind"/\n{"kind"/g' "$list" | grep '^{"kind"')
echo "$good good, $bad wrong"
[ "$bad" = 0 ]
