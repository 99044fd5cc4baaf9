# What the benchmarks share: a command's time and memory, medians, ratios. Sourced after common.sh; needs $work.

if [ ! -x /usr/bin/time ]; then
    echo "bench: installing the package time"
    if [ "$(id -u)" = 0 ]; then as_root=(); else as_root=(sudo -n); fi
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends time >/dev/null || fail "there is no /usr/bin/time: sudo apt-get install time"
fi

# measure NAME COMMAND…: adds a line "wall-seconds user+system-seconds peak-kB" to $work/NAME.time. What it prints goes to $work/said.
measure() {
    local name=$1 before after
    shift
    before=$(now)
    /usr/bin/time -f '%U %S %M' -o "$work/usage" "$@" >"$work/said" 2>"$work/complaints" || { cat "$work/said" "$work/complaints" >&2; fail "$* failed"; }
    after=$(now)
    awk -v wall=$((after - before)) '{ printf "%.4f %.2f %d\n", wall / 1e6, $1 + $2, $3 }' "$work/usage" >>"$work/$name.time"
}
median() { sort -n | awk '{ line[NR] = $1 } END { print (NR % 2 ? line[(NR + 1) / 2] : (line[NR / 2] + line[NR / 2 + 1]) / 2) }'; }
column() { awk -v column="$2" '{ print $column }' "$work/$1.time" | median; }
wall() { printf '%.2f s' "$(column "$1" 1)"; }
milliseconds() { awk -v wall="$(column "$1" 1)" 'BEGIN { printf "%.0f ms", wall * 1000 }'; }
cpu() { printf '%.2f s' "$(column "$1" 2)"; }
peak() { awk -v peak="$(column "$1" 3)" 'BEGIN { printf "%.0f MB", peak / 1000 }'; }
# ratio A B: of the wall times, pair by pair, the median.
ratio() { paste "$work/$1.time" "$work/$2.time" | awk '{ print $1 / $4 }' | median | xargs printf '%.2f'; }
thousands() { printf '%d' "$1" | rev | sed -E 's/([0-9]{3})/\1,/g; s/,$//' | rev; }
count_of() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$work/said"; }
