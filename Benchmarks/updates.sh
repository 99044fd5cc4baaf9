#!/usr/bin/env bash
# What an update costs on the wire: the bytes on the socket of `patchsync sync` from a real `patchsrv serve`, for three real
# applications in three versions each, from every version to every later one; beside them what stock tools need for the same.
# With --many: 10,000 small files with 1 % changed, over loopback and over 10 Mbit/s with 100 ms, beside rsync and curl.
#
# usage: Benchmarks/updates.sh BIN_DIR [WORK] [--many] [--keep-peers] [APP…]      apps: jupyterlab esphome optuna; all by default
#        WORK keeps wheels, tools and results.json (many.json), so that a second run fetches nothing; without it a folder
#        that is removed at the end. --keep-peers takes the stock tools' figures from WORK/results.json of the run before.
#        Measured are devices with entry signatures and without: DEVICES="required= manifest=--entry-signatures,manifest" says
#        so, and may name others by their options of `patchsync init`; KEYS="--online-key ed25519" makes the keys so
#        (`patchsign init`); FILES=10000 and ROUNDS=3 change the size of --many.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
shift
work=
case "${1:-}" in '' | --* | jupyterlab | esphome | optuna) ;; *) work=$1; shift ;; esac
if [ -z "$work" ]; then
    work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
    trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"

# package:program. What cannot be installed is named in the tables as missing.
missing=()
for pair in time:time zip:zip zstd:zstd rsync:rsync zsync:zsync casync:casync zchunk:zck bsdiff:bsdiff xdelta3:xdelta3 ostree:ostree \
    nginx-light:nginx curl:curl iproute2:ip; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${pair#*:}" >/dev/null || missing+=("${pair%:*}")
done
[ -x /usr/bin/time ] || missing+=(time)
if [ ${#missing[@]} -gt 0 ]; then
    echo "bench: installing ${missing[*]}"
    if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo -n); fi
    for package in "${missing[@]}"; do
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 || echo "bench: $package cannot be installed" >&2
    done
fi
[ -x "$work/venv/bin/pip" ] || python3 -m venv "$work/venv"
"$work/venv/bin/python" -c 'import hdiffpatch' 2>/dev/null || "$work/venv/bin/pip" install --quiet --disable-pip-version-check hdiffpatch || true
PYTHONDONTWRITEBYTECODE=1 PATH=$PATH:/usr/sbin:/sbin "$work/venv/bin/python" "$here/Updates/updates.py" "$bin" "$work" "$@"
