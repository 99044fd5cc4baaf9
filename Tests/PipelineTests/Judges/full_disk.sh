#!/usr/bin/env bash
# usage: full_disk.sh PATCHSYNC STORE FOLDER
#
# In a mount namespace of its own, on a file system that is too small for an update: a copy of STORE syncs, is looked at,
# gets more room and syncs again; then the file system turns read-only. Prints `WHAT CODE` for each step.
set -uo pipefail
if [ "${IN_NAMESPACE:-}" != 1 ]; then
    IN_NAMESPACE=1 exec unshare --user --map-root-user --mount --propagation private "$0" "$@"
fi
patchsync=$1 store=$2 folder=$3
mkdir -p "$folder"
cd "$(dirname "$folder")"
used=$(du -sk --apparent-size "$store" | cut -f1)
mount -t tmpfs -o "size=$((used * 2 + 256))k" tmpfs "$folder" || exit 1
cp -a "$store" "$folder/store"

step() {
    echo "-- $1"
    shift
    "$patchsync" "$@" --store "$folder/store" 2>&1
    echo "-> $?"
}

# What a launch shows, and how it ends.
serve() {
    echo "-- $1"
    "$patchsync" serve --port 0 --store "$folder/store" > served 2>&1 &
    for _ in $(seq 15000); do grep -q 'listening on' served && break; kill -0 %% || break; sleep 0.02; done
    curl -sS "$(sed -n 's/.*listening on //p' served)"
    kill %%
    wait %%
    local code=$?
    cat served
    echo "-> $code"
}

free=$(df -k --output=avail "$folder" | tail -1)
head -c "$(((free - 64) * 1024))" /dev/zero > "$folder/filler"
before=$(df -k --output=avail "$folder" | tail -1)
step "sync on a full disk" sync
step "dry run on a full disk" sync --dry-run
step "status on a full disk" status
after=$(df -k --output=avail "$folder" | tail -1)
echo "-- room"
# Metadata is kept, and a log line; nothing of the version is.
[ "$((before - after))" -lt 64 ] && [ -z "$(ls "$folder/store/PartialDownload")" ]
echo "-> $?"
serve "serve on a full disk"
step "verify" verify --entries
mount -o remount,size=64m "$folder"
step "sync with room" sync
step "verify" verify --entries
mount -o remount,ro "$folder"
step "switch on a read-only disk" switch
step "sync on a read-only disk" sync
step "status on a read-only disk" status
step "verify on a read-only disk" verify --entries
serve "serve on a read-only disk"
mount -o remount,rw "$folder"
step "switch" switch
step "verify" verify --entries
