"""10,000 small files, and the same with 1 % of them replaced: over loopback, and over 10 Mbit/s with 100 ms."""

import os, shutil, statistics, subprocess

import chunks, peers, wire
from link import Link
from ours import Site, measured, run
from remote import Daemon, rsync_stats
from table import Table, thousands


BESIDE = "-a --link-dest"


def bundles(work, count):
    """Both versions, made once, and what is compared with them: the whole as .tar.zst, and the new files alone, each and as one."""
    folder = f"{work}/many-{count}"
    if not os.path.exists(f"{folder}/whole"):
        shutil.rmtree(folder, ignore_errors=True)
        chunks.make(f"{folder}/v0", count, "one", range(count))
        run(["cp", "-al", f"{folder}/v0", f"{folder}/v1"])
        chunks.make(f"{folder}/v1", count, "two", chunks.changed(count))
        peers.settle_times(f"{folder}/v0"), peers.settle_times(f"{folder}/v1")
        for number in chunks.changed(count):
            path = f"{folder}/new/{chunks.path_of(number)}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.link(f"{folder}/v1/{chunks.path_of(number)}", path)
        for name in ("v0", "new"):
            peers.tar(f"{folder}/{name}", f"{folder}/{name}.tar")
            run(["zstd", "-q", "-f", "-T0", "-19", f"{folder}/{name}.tar"])
        open(f"{folder}/whole", "w").close()
    each = 0
    for path in peers.files_of(f"{folder}/new").values():
        each += min(os.path.getsize(path), len(subprocess.run(["zstd", "-q", "-19", "-c", path], capture_output=True, check=True).stdout))
    plain = [sum(map(os.path.getsize, peers.files_of(f"{folder}/{name}").values())) for name in ("v0", "new")]
    return folder, {"files": count, "new files": len(chunks.changed(count)), "plain": plain[0], "new, plain": plain[1], "new, zstd -19 each": each,
                    "new, tar | zstd -19": os.path.getsize(f"{folder}/new.tar.zst"), "whole, tar | zstd -19": os.path.getsize(f"{folder}/v0.tar.zst")}


class Measure:
    def __init__(self, programs, work, devices, count, rounds):
        self.programs, self.work, self.devices, self.rounds, self.rows = programs, work, devices, rounds, {}
        self.folder, self.sizes = bundles(work, count)
        print(f"   ✓ {', '.join(f'{what}: {size:,}' for what, size in self.sizes.items())}", flush=True)

    def add(self, case, who, told=None, seconds=None, **more):
        row = self.rows.setdefault(case, {}).setdefault(who, {"seconds": []})
        row.update({key: value for key, value in {**(told or {}), **more}.items()})
        if seconds is not None:
            row["seconds"].append(seconds)
        return row

    def calm(self):
        run(["sync", "-f", self.work])

    def ours_over(self, site, case, way, line, link):
        """One sync of each kind of device through a counting proxy, over the link or over loopback."""
        for kind in self.devices:
            self.calm()
            link and link.take()
            usage = site.sync(f"{way}-{kind}", link.prefix if link else ())
            self.add(f"{case}, {way}", f"patchsync sync, {kind}", line.take(), usage["seconds"] if link else None, sync=usage, packets=link and link.take())

    def rsync(self, options, line, version, there, prefix=()):
        """One run. BESIDE leaves what is there alone, as patchsync does: it links into a folder of its own what stays the same."""
        options, there = (["-a", f"--link-dest={there}"], f"{there}.new") if options == BESIDE else ([options], there)
        host, port = line
        return measured([*prefix, "rsync", *options, "--stats", "--delete-after", f"rsync://{host}:{port}/{version}/", there + "/"], f"{self.work}/usage")

    def rsync_over(self, case, line, version, there, link, options):
        self.calm()
        link and link.take()
        usage, _ = self.rsync(options, (line.host, line.port), version, there, link.prefix if link else ())
        told = line.take()
        self.add(case, f"rsync {options}", {key: told[key] for key in ("bytes", "up", "down", "connections")}, usage["seconds"] if link else None, sync=usage, packets=link and link.take())

    def run(self):
        site, link, daemon = Site(self.programs, f"{self.work}/ours-many", "bench.many"), None, None
        www = peers.Site(f"{self.work}/site")
        os.link(f"{self.folder}/v0.tar.zst", f"{www.folder}/v0.tar.zst")
        try:
            try:
                link = Link()
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"   ! no link of 10 Mbit/s: that needs root, ip netns and /dev/net/tun ({error})", flush=True)
            self.publishes = [self.published(site, 0)]
            port, daemon = site.serve(), Daemon(f"{self.work}/rsyncd-many", {name: f"{self.folder}/{name}" for name in ("v0", "v1")})
            ways = {"loopback": (wire.Wire(port), wire.Wire(daemon.port, http=False), None)}
            if link:
                ways["link"] = (wire.Wire(port, listener=link.listener()), wire.Wire(daemon.port, http=False, listener=link.listener()), link)
                if www.process:
                    self.curl(wire.Wire(www.port, listener=link.listener()), link)
            for way, (line, _, _) in ways.items():
                for kind, options in self.devices.items():
                    site.device(f"{way}-{kind}", line.url, options)
            for number in range(self.rounds):
                for kind, options in self.devices.items():
                    site.device(f"direct{number}-{kind}", f"http://127.0.0.1:{port}", options)
            self.version(site, ways, daemon, "first install", 0)
            self.publishes.append(self.published(site, 1))
            self.version(site, ways, daemon, "1 % changed", 1)
            for way, (line, _, over) in ways.items():
                self.ours_over(site, "nothing new", way, line, over)
        finally:
            site.stop(), www.stop()
            for other in (daemon, link):
                if other:
                    other.stop()
        return {"sizes": self.sizes, "rows": self.rows, "publishes": self.publishes}

    def published(self, site, number):
        signed = site.release(number, f"{self.folder}/v{number}", str(number + 1), "index.html")
        told = {"release": signed, "publish": site.publish(number)}
        print(f"   ✓ release {number + 1}: signed in {signed['seconds']:.1f} s, published in {told['publish']['seconds']:.1f} s", flush=True)
        return told

    def version(self, site, ways, daemon, case, number):
        """All devices and copies take one version: over each way with its bytes, and past the proxy with their times."""
        for way, (line, rsync_line, over) in ways.items():
            self.ours_over(site, case, way, line, over)
            for options in ("-az",) if over else ("-az", "-a", BESIDE)[:2 + number]:
                self.rsync_over(f"{case}, {way}", rsync_line, f"v{number}", self.copy(f"{way}{options}", number), over, options)
        for turn in range(self.rounds):
            for kind in self.devices:
                self.calm()
                self.add(f"{case}, loopback", f"patchsync sync, {kind}", None, site.sync(f"direct{turn}-{kind}")["seconds"])
            for options in ("-az", "-a", BESIDE)[:2 + number]:
                there = self.copy(f"direct{turn}{options}", number)
                self.calm()
                usage, said = self.rsync(options, ("127.0.0.1", daemon.port), f"v{number}", there)
                self.add(f"{case}, loopback", f"rsync {options}", {"stats": rsync_stats(said)}, usage["seconds"])
        names = [f"{way}-{kind}" for way in [*ways, *(f"direct{turn}" for turn in range(self.rounds))] for kind in self.devices]
        for name in names:
            site.settle(name)
            site.expect_version(name, str(number + 1))
        print(f"   ✓ {case}: {len(names)} devices", flush=True)

    def copy(self, name, number):
        there = f"{self.work}/copies/{name}"
        if number == 0:
            shutil.rmtree(there, ignore_errors=True)
            os.makedirs(there)
        elif name.endswith(BESIDE):
            for old in (there, f"{there}.new"):
                shutil.rmtree(old, ignore_errors=True)
            run(["cp", "-a", f"{self.folder}/v0", there])
        return there

    def curl(self, line, link):
        link.take()
        usage, _ = measured([*link.prefix, "curl", "-sS", "-o", f"{self.work}/fetched.tar.zst", f"{line.url}/v0.tar.zst"], f"{self.work}/usage")
        told = line.take()
        self.add("first install, link", "curl of the .tar.zst", {key: told[key] for key in ("bytes", "up", "down", "connections", "requests")}, usage["seconds"], sync=usage, packets=link.take())


def show(results):
    table = Table("what", "bytes", "up", "requests", "connections", "packets' bytes", *wire.CLASSES[:-1], "seconds", "CPU s", "MB")
    order = [f"{case}, {way}" for case in ("first install", "1 % changed", "nothing new") for way in ("loopback", "link")]
    for case, rows in sorted(results["rows"].items(), key=lambda one: order.index(one[0])):
        table.row(f"**{case}**")
        for who, told in rows.items():
            classes = told.get("classes", {})
            packets = told.get("packets")
            table.row(who, thousands(told["bytes"]), thousands(told["up"]), told.get("requests", ""), told["connections"],
                      thousands(packets["up"] + packets["down"]) if packets else "",
                      *[thousands(classes[part]) if part in classes else "" for part in wire.CLASSES[:-1]],
                      f"{statistics.median(told['seconds'] or [told['sync']['seconds']]):.2f}", f"{told['sync']['cpu']:.2f}", f"{told['sync']['MB']:.0f}")
    sizes = results["sizes"]
    print(f"\n{sizes['files']:,} files\n{table.markdown()}\n")
    whole, new = sizes["whole, tar | zstd -19"], sizes["new, zstd -19 each"]
    goals = Table("goal", "allowed", "measured", "")

    def goal(what, allowed, measured):
        goals.row(what, f"{allowed:,}", f"{measured:,}", "met" if measured <= allowed else f"{measured / allowed:.2f} × that")

    for case, rows in sorted(results["rows"].items(), key=lambda one: order.index(one[0])):
        for who in [who for who in rows if who.startswith("patchsync")]:
            if case.startswith("first install"):
                goal(f"{case}, {who}: bytes, 1.02 × the .tar.zst", int(whole * 1.02), rows[who]["bytes"])
            elif case.startswith("1 % changed"):
                goal(f"{case}, {who}: bytes, 1.05 × the new files, zstd -19 each, and 64 kB", int(new * 1.05) + 65_536, rows[who]["bytes"])
                for other in [other for other in rows if other.startswith("rsync")]:
                    goal(f"{case}, {who}: seconds, beside {other}", *[round(statistics.median(rows[one]["seconds"]), 2) for one in (other, who)])
    print(goals.markdown())
    for number, told in enumerate(results["publishes"]):
        print("   " + "; ".join(f"{what} {number + 1}: {use['seconds']:.2f} s, {use['cpu']:.2f} s of CPU, {use['MB']:.0f} MB" for what, use in told.items()))


def measure(programs, work, devices):
    results = Measure(programs, work, devices, int(os.environ.get("FILES", "10000")), int(os.environ.get("ROUNDS", "3"))).run()
    show(results)
    return results
