"""The six pairs of real bundles, and from the first version to the third: Patchline's bytes on the socket, and the stock tools' beside them."""

import itertools, os, shutil, subprocess, sys

import peers, remote, wire
from ours import Site, fail, stored
from table import Table, thousands

# Name of the wheel, folder inside it, start page, versions.
APPS = {
    "jupyterlab": ("jupyterlab", "jupyterlab-VERSION.data/data/share/jupyter/lab/", "static/index.html", ("4.5.9", "4.5.10", "4.5.11")),
    "esphome": ("esphome-dashboard", "esphome_dashboard/", "index.template.html", ("20260210.0", "20260408.1", "20260425.0")),
    "optuna": ("optuna-dashboard", "optuna_dashboard/", "index.html", ("0.18.0", "0.19.0", "0.20.0")),
}
# The lowest that was measured by anything and decoded to the exact new tree, without signatures and headers.
AIMS = {
    "jupyterlab 4.5.9 → 4.5.10": 16_399, "jupyterlab 4.5.10 → 4.5.11": 11_508,
    "esphome 20260210.0 → 20260408.1": 893, "esphome 20260408.1 → 20260425.0": 3_206,
    "optuna 0.18.0 → 0.19.0": 25_391, "optuna 0.19.0 → 0.20.0": 79_769,
}
WHOLES = {
    "whole: zip -9": peers.whole_zip,
    "whole: tar | zstd -19": peers.whole_zstd,
    "whole: tar | zstd -19 --long=27": peers.whole_zstd_long,
}
PEERS = {
    "new files: zstd -19 each": peers.new_files_zstd,
    "rsync -az": remote.rsync,
    "rsync -az --fuzzy": remote.rsync_fuzzy,
    "rsync -az of the tar": remote.rsync_tar,
    "zsync": remote.zsync,
    "casync": remote.casync,
    "zchunk": remote.zchunk,
    "OSTree static delta": remote.ostree,
    "bsdiff of the tar": peers.bsdiff,
    "xdelta3 -9 of the tar": peers.xdelta3,
    "HDiffPatch of the tar": peers.hdiffpatch,
    "zstd -22 --patch-from, a file": peers.patch_from_files,
    "zstd -22 --patch-from, the tar": peers.patch_from_solid,
}
WHOLE = "whole: tar | zstd -19"
SIGNATURE = 384  # Bytes of RSA-3072.


def bundle(work, app, version):
    """The folder of an app's version: fetched once, unpacked once."""
    name, root, _, _ = APPS[app]
    folder, wheels = f"{work}/bundles/{app}-{version}", f"{work}/wheels"
    if os.path.exists(f"{folder}.whole"):
        return folder
    os.makedirs(wheels, exist_ok=True)
    start = f"{name.replace('-', '_')}-{version}-"
    if not any(file.startswith(start) for file in os.listdir(wheels)):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                        "--dest", wheels, f"{name}=={version}"], check=True)
    wheel = next(f"{wheels}/{file}" for file in sorted(os.listdir(wheels)) if file.startswith(start))
    shutil.rmtree(folder, ignore_errors=True)
    with open(os.devnull, "w") as nowhere:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "..", "bundles.py"), "unpack", wheel,
                        root.replace("VERSION", version), folder], check=True, stdout=nowhere)
    peers.settle_times(folder)
    open(f"{folder}.whole", "w").close()
    return folder


def ours(programs, work, app, devices):
    """First installs, updates and a sync with nothing new of one app, for each kind of device; by the names of the rows."""
    _, _, index, versions = APPS[app]
    site = Site(programs, f"{work}/ours-{app}", f"bench.{app}")
    pairs, firsts, publishes = {}, {}, {}
    try:
        folders = [bundle(work, app, version) for version in versions]
        site.release(0, folders[0], versions[0], index)
        publishes[versions[0]] = site.publish(0)
        line = wire.Wire(site.serve())
        # Every device waits at one version for one other, so that each update starts from a device that never saw what lies between.
        for number, version in enumerate(versions):
            if number:
                signed = site.release(number, folders[number], version, index)
                publishes[version] = {**site.publish(number), "release": signed}
            for kind, options in devices.items():
                for older in range(number):
                    name = f"{kind}-{older}-for-{number}"
                    usage = site.sync(name)
                    site.expect_version(name, version)
                    pairs.setdefault(f"{app} {versions[older]} → {version}", {})[kind] = {**line.take(), "sync": usage}
                for later in range(number + 1, max(len(versions), number + 2)):
                    name = f"{kind}-{number}-for-{later}"
                    site.device(name, line.url, options)
                    usage = site.sync(name)
                    told = {**line.take(), "sync": usage}
                    site.settle(name)
                    site.expect_version(name, version)
                    site.sync(name)
                    firsts.setdefault(f"{app} {version}", {})[kind] = {**told, "nothing new": line.take()["bytes"]}
        return {"pairs": pairs, "firsts": firsts, "publishes": publishes}
    finally:
        site.stop()


def tried(tools, pair, kept, name):
    """What each of some tools needs; one that is not here is named, one that gives other files ends the run."""
    row = {}
    for tool, function in tools.items():
        if tool in kept:
            row[tool] = kept[tool]
            continue
        try:
            row[tool] = function(pair())
        except peers.Missing as missing:
            row[tool] = {"missing": str(missing)}
        else:
            if not row[tool]["checked"]:
                fail(f"{name}: {tool} did not give the new files")
    return row


def beside(work, app, www, kept):
    """What every stock tool needs for the pairs of one app, and for each version whole."""
    versions, results = APPS[app][3], {}
    for old, new in [(number, number) for number in range(len(versions))] + list(itertools.combinations(range(len(versions)), 2)):
        name = f"{app} {versions[old]} → {versions[new]}" if old != new else f"{app} {versions[new]}"
        made = []

        def pair():
            if not made:
                made.append(peers.Pair(bundle(work, app, versions[old]), bundle(work, app, versions[new]), f"{work}/pair", www))
            return made[0]

        results[name] = tried(WHOLES if old == new else PEERS, pair, kept.get(name, {}), name)
        if old != new:
            results[name] = results[f"{app} {versions[new]}"] | results[name]
        print(f"   ✓ {name}: {len(results[name])} ways", flush=True)
    return results


def new_statements(work, name):
    """What must be signed anew: the list's entry, and each file that the old version has not under its path."""
    app, old, _, new = name.split()
    have, want = ({(path, peers.digest_of(source)) for path, source in peers.files_of(bundle(work, app, version)).items()} for version in (old, new))
    return 1 + len(want - have)


def cost(use, what):
    return f"{use[what]:,.2f}" if use else ""


def one_pair(name, mine, theirs):
    """The full table of one pair."""
    table = Table("what travels", "bytes", f"of {WHOLE.removeprefix('whole: ')}", "of aim", "requests", "make s", "make MB", "apply s", "apply MB", "")
    whole, aim = theirs.get(WHOLE, {}).get("bytes"), AIMS.get(name)

    def row(what, bytes, requests="", make=None, apply=None, note=""):
        table.row(what, thousands(bytes), f"{bytes / whole:.3f}" if whole else "", f"{bytes / aim:.2f}" if aim else "", requests,
                  cost(make, "seconds"), cost(make, "MB"), cost(apply, "seconds"), cost(apply, "MB"), note)

    for kind, told in mine.items():
        row(f"patchsync sync, {kind}", told["bytes"], told["requests"], told.get("publish"), told["sync"],
            f"up {told['up']:,}, down {told['down']:,}, {told['connections']} connections")
        for part, bytes in told["classes"].items():
            if bytes:
                row(f"  {part}", bytes)
    for tool, told in theirs.items():
        if "missing" in told:
            table.row(tool, "missing", *[""] * 7, told["missing"])
        else:
            row(tool, told["bytes"], told.get("requests", ""), told.get("make"), told.get("apply"), told.get("note", ""))
    if aim:
        table.row("aim", thousands(aim))
    print(f"\n{name}\n{table}")


def summary(results):
    """Ways down, pairs across: as Updates.md shows it."""
    names = list(results["pairs"])
    table = Table("bytes", *names)
    kinds = list(next(iter(results["pairs"].values())))
    for kind in kinds:
        told = [results["pairs"][name][kind] for name in names]
        table.row(f"**`patchsync sync`, {kind}**", *[thousands(one["bytes"]) for one in told])
        for part in wire.CLASSES:
            if any(one["classes"][part] for one in told):
                table.row(f"of these {part}", *[thousands(one["classes"][part]) for one in told])
        table.row("requests", *[one["requests"] for one in told])
        wholes = [results["beside"][name].get(WHOLE, {}).get("bytes") for name in names]
        table.row(f"times {WHOLE.removeprefix('whole: ')}", *[f"{one['bytes'] / whole:.2f}" if whole else "" for one, whole in zip(told, wholes)])
        table.row("times the aim", *[f"{one['bytes'] / AIMS[name]:,.2f}" if name in AIMS else "" for one, name in zip(told, names)])
        table.row("sync: seconds, MB", *[f"{one['sync']['seconds']:.2f}, {one['sync']['MB']:.0f}" for one in told])
    table.row("publish: seconds, MB", *[f"{told['seconds']:.2f}, {told['MB']:.0f}" for told in (results["publishes"][name] for name in names)])
    for tool in WHOLES | PEERS:
        told = [results["beside"][name].get(tool, {}) for name in names]
        table.row(tool, *[thousands(one["bytes"]) if "bytes" in one else "missing" for one in told])
    table.row("aim", *[thousands(AIMS[name]) if name in AIMS else "" for name in names])
    allowed = {name: int(1.1 * AIMS[name]) + 600 for name in names if name in AIMS}
    table.row("goal with `manifest`: 1.1 × aim, and 600 bytes", *[thousands(allowed[name]) if name in allowed else "" for name in names])
    signatures = {name: results["new statements"][name] * SIGNATURE for name in names}
    table.row("goal with `required`: a signature a new statement more", *[thousands(allowed[name] + signatures[name]) if name in allowed else "" for name in names])
    print(f"\nUpdates, bytes on the socket\n{table.markdown()}")
    firsts = Table("first install", "device", "bytes", "requests", "connections", *wire.CLASSES[:-1], "nothing new", WHOLE, "times that", "seconds", "MB")
    for name, kinds in results["firsts"].items():
        whole = results["beside"][name].get(WHOLE, {}).get("bytes")
        for kind, told in kinds.items():
            firsts.row(name, kind, thousands(told["bytes"]), told["requests"], told["connections"], *[thousands(told["classes"][part]) for part in wire.CLASSES[:-1]],
                       thousands(told["nothing new"]), thousands(whole) if whole else "", f"{told['bytes'] / whole:.2f}" if whole else "",
                       f"{told['sync']['seconds']:.2f}", f"{told['sync']['MB']:.0f}")
    print(f"\nFirst installs, bytes on the socket\n{firsts.markdown()}")


def measure(programs, work, devices, apps, kept):
    results = {"pairs": {}, "firsts": {}, "publishes": {}, "beside": {}, "new statements": {}}
    www = peers.Site(f"{work}/site")
    try:
        for app in apps:
            print(f"\n{app}", flush=True)
            told = ours(programs, work, app, devices)
            print(f"   ✓ three releases, {sum(map(len, told['firsts'].values()))} first installs, {sum(map(len, told['pairs'].values()))} updates", flush=True)
            results["pairs"] |= told["pairs"]
            results["firsts"] |= told["firsts"]
            for name in told["pairs"]:
                results["publishes"][name] = told["publishes"][name.split()[-1]]
                results["new statements"][name] = new_statements(work, name)
                for one in told["pairs"][name].values():
                    one["publish"] = results["publishes"][name]
            results["beside"] |= beside(work, app, www, kept)
            stored(f"{work}/results.json", results)
    finally:
        www.stop()
    for name, told in results["pairs"].items():
        one_pair(name, told, results["beside"][name])
    summary(results)
    return results
