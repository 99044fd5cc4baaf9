"""The stock tools that fetch: rsync, zsync, casync, zchunk, and OSTree's static deltas. What travels is counted at the proxy."""

import os, re, shutil, socket, subprocess, time

import wire
from ours import fail, measured, run
from peers import need, same_tree


class Daemon:
    """An rsync daemon on folders; it may be asked through a proxy that counts."""

    def __init__(self, work, folders):
        need("rsync")
        os.makedirs(work, exist_ok=True)
        self.conf = f"{work}/rsyncd.conf"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        with open(self.conf, "w") as file:
            file.write(f"port = {self.port}\naddress = 127.0.0.1\nuse chroot = no\nreverse lookup = no\n" + (f"uid = {os.getuid()}\ngid = {os.getgid()}\n" if os.getuid() == 0 else ""))
            for name, folder in folders.items():
                file.write(f"[{name}]\npath = {folder}\n")
        self.process = subprocess.Popen(["rsync", "--daemon", "--no-detach", "--config", self.conf], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        fail("the rsync daemon does not answer")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def rsync_stats(said):
    numbers = [int(re.search(rf"^Total bytes {way}: ([0-9,]+)$", said, re.M)[1].replace(",", "")) for way in ("sent", "received")]
    return sum(numbers)


def rsync(pair, *options, old=None, new=None):
    old, new = old or pair.old, new or pair.new
    daemon = Daemon(pair.path("rsyncd"), {"new": new})
    line = wire.Wire(daemon.port, http=False)
    try:
        there = pair.path("rsync")
        run(["cp", "-a", old, there])
        usage, said = measured(["rsync", "-az", "--stats", "--delete-after", *options, f"rsync://127.0.0.1:{line.port}/new/", there + "/"], pair.path("usage"))
        result = {"bytes": line.take()["bytes"], "apply": usage, "checked": same_tree(there, new), "note": f"--stats says {rsync_stats(said):,}"}
        shutil.rmtree(there)
        return result
    finally:
        line.listener.close()
        daemon.stop()


def rsync_fuzzy(pair):
    """Takes a similar name's file of the same folder as base where the path is new."""
    return rsync(pair, "--fuzzy")


def rsync_tar(pair):
    """The whole bundle as one file."""
    folders = {}
    for name, source in zip(("old", "new"), pair.tars):
        folders[name] = pair.path(f"rsync-{name}")
        shutil.rmtree(folders[name], ignore_errors=True)
        os.mkdir(folders[name])
        os.link(source, f"{folders[name]}/bundle.tar")
    os.utime(pair.tars[0], (1, 1)), os.utime(pair.tars[1], (2, 2))
    return rsync(pair, old=folders["old"], new=folders["new"])


def fetched(pair, command, **options):
    """Runs what fetches from nginx; its bytes and requests."""
    pair.www.wire.clear()
    usage = pair.measured(command, **options)
    told = pair.www.wire.take()
    return {"bytes": told["bytes"], "requests": told["requests"], "apply": usage}


def served(pair):
    need("nginx")
    shutil.rmtree(pair.www.folder)
    os.mkdir(pair.www.folder)
    return pair.www.folder


def zsync(pair):
    """Of the tar as it is, and of the tar compressed so that its blocks are found: the smaller."""
    need("zsync", "zsyncmake")
    results = {}
    for way, options in {"plain": [], "-z": ["-z"]}.items():
        www = served(pair)
        shutil.copy(pair.tars[1], f"{www}/new.tar")
        make = pair.measured(["zsyncmake", *options, "-o", f"{www}/new.zsync", "new.tar"], cwd=www)
        back = pair.path("zsynced.tar")
        if os.path.exists(back):
            os.remove(back)
        result = fetched(pair, ["zsync", "-q", "-i", pair.tars[0], "-o", back, f"{pair.www.wire.url}/new.zsync"], cwd=pair.work)
        results[way] = {**result, "make": make, "checked": pair.same_as_new(back)}
    way, best = min(results.items(), key=lambda one: one[1]["bytes"])
    return {**best, "note": f"{way}; " + ", ".join(f"{way} {result['bytes']:,}" for way, result in results.items())}


def casync(pair):
    """With chunks of 64 kB, its default, and of 8 kB: the smaller."""
    need("casync")
    results = {}
    for size in ("65536", "8192"):
        www, there = served(pair), pair.path("casynced")
        shutil.rmtree(there, ignore_errors=True)
        features = ["--without=all"]
        make = pair.measured(["casync", "make", *features, f"--chunk-size={size}", f"--store={www}/store.castr", f"{www}/new.caidx", pair.new])
        os.mkdir(there)
        result = fetched(pair, ["casync", "extract", *features, f"--seed={pair.old}", "--seed-output=no", f"--store={pair.www.wire.url}/store.castr",
                                f"{pair.www.wire.url}/new.caidx", there])
        results[size] = {**result, "make": make, "checked": same_tree(there, pair.new)}
    size, best = min(results.items(), key=lambda one: one[1]["bytes"])
    return {**best, "note": f"chunks of {size}; " + ", ".join(f"{size}: {result['bytes']:,}" for size, result in results.items())}


def zchunk(pair):
    need("zck", "zckdl")
    www, here = served(pair), pair.path("zck")
    shutil.rmtree(here, ignore_errors=True)
    os.mkdir(here)
    run(["zck", "-o", pair.path("old.zck"), pair.tars[0]])
    make = pair.measured(["zck", "-o", f"{www}/new.zck", pair.tars[1]])
    result = fetched(pair, ["zckdl", "-s", pair.path("old.zck"), f"{pair.www.wire.url}/new.zck"], cwd=here)
    run(["unzck", "new.zck"], cwd=here)
    return {**result, "make": make, "checked": pair.same_as_new(f"{here}/new.tar" if os.path.exists(f"{here}/new.tar") else f"{here}/new")}


def ostree(pair):
    """A static delta in one file, applied to a repository that has the old commit alone."""
    need("ostree")
    repos = {name: pair.path(f"ostree-{name}") for name in ("server", "device")}
    for path in repos.values():
        shutil.rmtree(path, ignore_errors=True)
    for name, mode in (("server", "archive"), ("device", "bare-user")):
        run(["ostree", f"--repo={repos[name]}", "init", f"--mode={mode}"])
    commits = []
    for folder in (pair.old, pair.new):
        commits.append(run(["ostree", f"--repo={repos['server']}", "commit", "-b", "web", "--timestamp=2026-01-01 00:00:00 +0000",
                            "--owner-uid=0", "--owner-gid=0", "--no-xattrs", f"--tree=dir={folder}"]).strip())
    run(["ostree", f"--repo={repos['device']}", "pull-local", repos["server"], commits[0]])
    made = pair.path("made.delta")
    make = pair.measured(["ostree", f"--repo={repos['server']}", "static-delta", "generate", f"--from={commits[0]}", f"--to={commits[1]}",
                          "--inline", "--min-fallback-size=0", f"--filename={made}"])
    apply = pair.measured(["ostree", f"--repo={repos['device']}", "static-delta", "apply-offline", made])
    there = pair.path("ostreed")
    shutil.rmtree(there, ignore_errors=True)
    run(["ostree", f"--repo={repos['device']}", "checkout", "--user-mode", commits[1], there])
    return {"bytes": os.path.getsize(made), "make": make, "apply": apply, "checked": same_tree(there, pair.new)}
