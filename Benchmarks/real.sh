#!/usr/bin/env bash
# The main job on applications that nobody here wrote: three versions of each, as PyPI's wheels ship them, are released,
# published, synced, served and updated twice. Every served byte must be the wheel's, but for the release stamp of a page, and only
# what changed may travel.
#
# usage: Benchmarks/real.sh BIN_DIR [APP…]      apps: esphome jupyterlab optuna; the first two by default
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- esphome jupyterlab
export PATH="$bin:$PATH"
build=${PATCHLINE_BUILD:-$here/../.build}
python=$build/judges/bin/python
wheels=$build/wheels
mkdir -p "$wheels"
all=$(mktemp -d "${TMPDIR:-/tmp}/patchline-real.XXXXXX")
work=$all
log=$work/access.log
began=$SECONDS
. "$here/common.sh"

# What an app is: its wheels' name, the folder of its files inside them, its page, and three versions.
describe() {
    case "$1" in
    esphome) name=esphome-dashboard root=esphome_dashboard/ index=index.template.html versions=(20260210.0 20260408.1 20260425.0) ;;
    jupyterlab) name=jupyterlab root=jupyterlab-VERSION.data/data/share/jupyter/lab/ index=static/index.html versions=(4.5.9 4.5.10 4.5.11) ;;
    optuna) name=optuna-dashboard root=optuna_dashboard/ index=index.html versions=(0.18.0 0.19.0 0.20.0) ;;
    *) fail "no app $1; there are esphome, jupyterlab and optuna" ;;
    esac
}

wheel_of() { compgen -G "$wheels/${name//-/_}-$1-*.whl" | head -n 1; }

# start_fetching, then wheels_are_here: pip works while the keys are made.
start_fetching() {
    local version
    fetching=()
    for version in "${versions[@]}"; do
        [ -z "$(wheel_of "$version")" ] || continue
        printf '   fetching %s %s\n' "$name" "$version"
        "$build/judges/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
            --dest "$wheels" "$name==$version" &
        fetching+=($!)
    done
}
wheels_are_here() {
    local pid
    for pid in "${fetching[@]}"; do wait "$pid" || fail "pip could not fetch a wheel of $name"; done
}

# release_folder N: the folder that patchsign describes, and the wheel's own list of its files.
release_folder() {
    local version=${versions[$1]} folder=$work/v$1
    mkdir -p "$folder/web"
    "$python" "$here/bundles.py" unpack "$(wheel_of "$version")" "${root/VERSION/$version}" "$folder/web" >"$folder/files" ||
        fail "the wheel of $name $version cannot be unpacked"
    cut -c1-64 "$folder/files" | sort -u >"$folder/digests"
    cat >"$folder/release.yaml" <<YAML
app: $app
channel: production
patches:
  - {id: web, kind: bundle, version: "$version", folder: web, index: $index}
YAML
}

# page_token: what confirms the launch that runs now.
page_token() { sed -n 's/.*confirm: echo \([0-9a-f]\{32\}\) .*/\1/p' "$work/serve.log" | tail -n 1; }

launch() {
    : >"$work/serve.log"
    patchsync serve --store "$work/device" --port 0 --startup-timeout 600000 --open --no-sync >"$work/serve.log" 2>&1 &
    serve_pid=$!
    wait_for "$serve_pid" "$work/serve.log" 'listening on'
    page=$(sed -n 's/.*listening on \(http[^ ]*\)\/$/\1/p' "$work/serve.log" | head -n 1)
}

# check_served N: every URL of the manifest, from the device's own server, against the wheel.
check_served() {
    local version=${versions[$1]} folder=$work/served$1 manifest
    manifest=$(compgen -G "$work/server/tree/$app/targets/production/web/$version/*.manifest.json") ||
        fail "no manifest of $version in the published tree"
    mkdir "$folder"
    "$python" "$here/bundles.py" fetch "$manifest" "$work/v$1/files" "$page" >"$work/curl$1" ||
        fail "the manifest of $version is not what the wheel holds"
    (cd "$folder" && curl --no-progress-meter --parallel --parallel-max 8 --config "$work/curl$1") || fail "a URL of $version's manifest is not served"
    find "$folder" -type f -exec "$python" "$here/bundles.py" unstamp {} +
    (cd "$folder" && sha256sum --check --quiet --strict "$work/v$1/files") || fail "a served file of $version is not the wheel's"
    [ "$(find "$folder" -type f | wc -l)" = "$(wc -l <"$work/v$1/files")" ] || fail "not every file of $version was served"
    curl -fsS "$page/" >"$work/page"
    "$python" "$here/bundles.py" unstamp "$work/page"
    cmp -s "$work/page" "$folder/$index" || fail "/ does not show $index of $version"
    rm -r "$folder"
}

# earlier N FILE: that file of all versions before N. The list offers two versions, and the device keeps the one that it
# confirmed before, so what comes back from there is neither signed nor fetched again.
earlier() { local n; for ((n = 0; n < $1; n++)); do cat "$work/v$n/$2"; done | sort -u; }

# check_travelled N FROM_LINE: no object that the device had, none twice, and all that it did not have, unless a pack brought them;
# in no more bytes than these have as they are.
check_travelled() {
    comm -13 <(earlier "$1" digests) "$work/v$1/digests" >"$work/expected"
    log_is_complete
    logged "$2" >"$work/travelled"
    awk -v root="/$app/objects/" 'index($1, root) == 1 { print substr($1, length(root) + 4) }' "$work/travelled" | sort >"$work/objects"
    { comm -13 "$work/expected" "$work/objects"; uniq -d "$work/objects"; } >"$work/needless"
    [ ! -s "$work/needless" ] || fail "objects travelled for ${versions[$1]} that were there, or twice: $(head -n 3 "$work/needless" | xargs)"
    (cd "$work/v$1/web" && find . -type f -printf '%P\t%s\n' | sort) >"$work/sizes"
    new_bytes=$(awk 'NR == FNR { new[$1] = 1; next } { digest = $1; sub(/^[0-9a-f]+  /, ""); if (new[digest]) { delete new[digest]; print } }' \
        "$work/expected" "$work/v$1/files" | sort | join -t $'\t' - "$work/sizes" | awk -F '\t' '{ sum += $2 } END { print sum + 0 }')
    object_bytes=$(grep -E "/(objects|packs)/" "$work/travelled" | sum_of 3)
    [ "$object_bytes" -le "$new_bytes" ] || fail "$object_bytes bytes of objects travelled for ${versions[$1]}, $new_bytes are new"
    if ! grep -q /packs/ "$work/travelled"; then
        comm -23 "$work/expected" "$work/objects" >"$work/lacking"
        [ ! -s "$work/lacking" ] || fail "objects never travelled for ${versions[$1]}: $(head -n 3 "$work/lacking" | xargs)"
    fi
    requests=$(wc -l <"$work/travelled")
    other_bytes=$(grep -v -E "/(objects|packs)/" "$work/travelled" | sum_of 3)
    changed=$(wc -l <"$work/expected")
}

# check_signatures N: one for the list's entry and one for each file that is new under its path.
check_signatures() {
    local new made
    new=$(comm -13 <(earlier "$1" files) <(sort "$work/v$1/files") | wc -l)
    made=$(sed -n 's/.*"signaturesMade": *\([0-9]*\).*/\1/p' "$work/said")
    [ "$made" = $((new + 1)) ] || fail "$made signatures were made for ${versions[$1]}; $new files and one entry are new"
}

row='   %-11s %5s %11s %8s %9s %11s %9s %7s %8s %7s %7s\n'
header() {
    title "$1"
    # shellcheck disable=SC2059
    printf "$row" version files bytes changed requests 'new bytes' 'signed *' 'sign s' 'publish s' 'sync s' 'serve s'
}

one_version() { # one_version N
    local version=${versions[$1]} previous=() from t0 t1 t2 t3 t4 t5
    [ "$1" = 0 ] || previous=(--previous "$work/release$(($1 - 1))")
    t0=$(now)
    quietly patchsign release "$work/v$1" --output "$work/release$1" --keys "$work/keys" --passphrase-file "$work/passphrase" --json "${previous[@]}"
    t1=$(now)
    check_signatures "$1"
    t2=$(now)
    quietly patchsrv publish "$work/release$1" --data "$work/server" --optimize --passphrase-file "$work/passphrase"
    t3=$(now)
    if [ "$1" = 0 ]; then
        start_patchsrv
        quietly patchsync init --store "$work/device" --root "$work/keys/root.json" --server "$server"
    fi
    from=$(log_lines)
    t4=$(now)
    quietly patchsync sync --store "$work/device"
    t5=$(now)
    check_travelled "$1" "$from"
    if [ "$1" = 0 ]; then launch; else
        quietly patchsync switch --store "$work/device"
        wait_for "$serve_pid" "$work/serve.log" "web ${version//./\\.} "
    fi
    local t6
    t6=$(now)
    check_served "$1"
    local t7
    t7=$(now)
    quietly patchsync confirm --store "$work/device" --launch-file <(page_token)
    # shellcheck disable=SC2059
    printf "$row" "$version" "$(wc -l <"$work/v$1/files")" "$(awk -F '\t' '{ sum += $2 } END { print sum }' "$work/sizes")" "$changed" "$requests" \
        "$object_bytes" "$other_bytes" "$(seconds "$t0" "$t1")" "$(seconds "$t2" "$t3")" "$(seconds "$t4" "$t5")" "$(seconds "$t6" "$t7")"
}

one_app() {
    describe "$1"
    app=real.$1
    work=$all/$1
    mkdir "$work"
    log=$work/access.log
    start_fetching
    head -c 18 /dev/urandom | base64 >"$work/passphrase"
    quietly patchsign init --app "$app" --keys "$work/keys" --passphrase-file "$work/passphrase"
    quietly patchsrv init --data "$work/server" --trust "$work/keys" --online-key "$work/keys/online.key" --passphrase-file "$work/passphrase"
    wheels_are_here
    header "$name: $root, its page is $index"
    local n
    for n in "${!versions[@]}"; do release_folder "$n"; one_version "$n"; done
    quietly patchsync verify --store "$work/device" --entries
    patchsync status --store "$work/device" >"$work/status"
    grep -Eq "^web +bundle +${versions[-1]//./\\.} .* Success" "$work/status" || { cat "$work/status" >&2; fail "the status does not show ${versions[-1]}"; }
    stop "$serve_pid" "patchsync serve"
    serve_pid=
    stop "$server_pid" "patchsrv serve"
    server_pid=
    ok "every URL gave the wheel's bytes, after the first install and both updates; nothing travelled twice"
    work=$all
}

for wanted in "$@"; do describe "$wanted"; done
for wanted in "$@"; do one_app "$wanted"; done
printf '\n   * lists, manifests, signatures and metadata, in bytes; "serve" is every URL fetched and hashed.\n'
printf '\n%sDone in %d s.%s %d real applications (%s), three versions each: released, published, synced, served, updated twice.\n' \
    "$bold" $((SECONDS - began)) "$plain" $# "$*"
