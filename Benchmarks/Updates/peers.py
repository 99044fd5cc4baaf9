"""The stock tools: each makes an update from one folder to another, and says what would travel. What it made is applied and compared."""

import filecmp, hashlib, os, re, shutil, socket, subprocess, sys, time, zipfile

import wire
from ours import measured, run

NEEDED = {"zip": "zip", "zstd": "zstd", "rsync": "rsync", "zsync": "zsync", "zsyncmake": "zsync", "casync": "casync", "zck": "zchunk",
          "zckdl": "zchunk", "bsdiff": "bsdiff", "bspatch": "bsdiff", "xdelta3": "xdelta3", "ostree": "ostree", "nginx": "nginx-light"}


class Missing(Exception):
    """A tool that is not here."""


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Missing(f"{tool}: apt-get install {NEEDED[tool]}")


def files_of(folder):
    return {os.path.relpath(os.path.join(at, name), folder): os.path.join(at, name) for at, _, names in os.walk(folder) for name in names}


def same_tree(one, other):
    mine, theirs = files_of(one), files_of(other)
    return mine.keys() == theirs.keys() and all(filecmp.cmp(mine[path], theirs[path], shallow=False) for path in mine)


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle_times(folder):
    """The time of a file says its content, so rsync passes over what is the same and sees all that is not."""
    for path in files_of(folder).values():
        when = 1_600_000_000 + int(digest_of(path)[:7], 16)
        os.utime(path, (when, when))


def tar(folder, path):
    run(["tar", "--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--mode=u=rw,go=r,a+X",
         "-C", folder, "-cf", path, "."])


def unpacked(archive, folder):
    os.makedirs(folder)
    run(["tar", "-C", folder, "-xf", archive])


class Pair:
    """Two versions as folders and as tars, a folder to work in, and nginx's files behind a proxy that counts."""

    def __init__(self, old, new, work, www):
        self.old, self.new, self.work, self.www = old, new, work, www
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        self.tars = self.path("old.tar"), self.path("new.tar")
        tar(old, self.tars[0]), tar(new, self.tars[1])

    def path(self, name):
        return os.path.join(self.work, name)

    def measured(self, command, **options):
        return measured(command, self.path("usage"), **options)[0]

    def same_as_new(self, path):
        return filecmp.cmp(path, self.tars[1], shallow=False)


class Site:
    """nginx on a folder, and the counting proxy before it: zsync, casync and zchunk fetch over HTTP."""

    def __init__(self, work):
        self.folder = f"{work}/www"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(self.folder)
        self.process = None
        if not shutil.which("nginx"):
            return
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = port = probe.getsockname()[1]
        kinds = "".join(f"{kind}_temp_path {work}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(f"{work}/nginx.conf", "w") as file:
            file.write(f"daemon off; pid {work}/pid; error_log {work}/error.log; {'user root; ' if os.getuid() == 0 else ''}events {{}}\n"
                       f"http {{ access_log off; keepalive_requests 1000000; {kinds}server {{ listen 127.0.0.1:{port}; root {self.folder}; }} }}\n")
        self.process = subprocess.Popen(["nginx", "-c", f"{work}/nginx.conf", "-e", f"{work}/error.log"], start_new_session=True)
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        self.wire = wire.Wire(port)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def whole_zip(pair):
    need("zip")
    make = pair.measured(["zip", "-9", "-X", "-q", "-r", pair.path("new.zip"), "."], cwd=pair.new)
    with zipfile.ZipFile(pair.path("new.zip")) as archive:
        archive.extractall(pair.path("zip"))
    return {"bytes": os.path.getsize(pair.path("new.zip")), "make": make, "checked": same_tree(pair.path("zip"), pair.new)}


def zstd_made(pair, options, source):
    """One zstd -T1 run over a file, and back."""
    need("zstd")
    made, back = pair.path("made.zst"), pair.path("made.back")
    make = pair.measured(["zstd", "-q", "-f", "-T1", *options, source, "-o", made])
    windows = [word for word in options if word.startswith(("--long", "--patch-from"))]
    apply = pair.measured(["zstd", "-q", "-f", "-d", *windows, *(["--long=31"] if windows else []), made, "-o", back])
    return {"bytes": os.path.getsize(made), "make": make, "apply": apply, "checked": filecmp.cmp(back, source, shallow=False)}


def whole_zstd(pair):
    return zstd_made(pair, ["-19"], pair.tars[1])


def whole_zstd_long(pair):
    return zstd_made(pair, ["-19", "--long=27"], pair.tars[1])


def new_files(pair):
    """Every file whose content the old version has not, each by itself."""
    have = {digest_of(path) for path in files_of(pair.old).values()}
    new = {digest_of(path): path for path in files_of(pair.new).values()}
    return [path for digest, path in sorted(new.items()) if digest not in have]


def new_files_zstd(pair):
    results = [zstd_made(pair, ["-19"], path) for path in new_files(pair)]
    return {"bytes": sum(min(result["bytes"], os.path.getsize(path)) for result, path in zip(results, new_files(pair))),
            "checked": all(result["checked"] for result in results), "note": f"{len(results)} files, each zstd -19 where that is smaller; no names"}


def pieces(path):
    """What a file says between its marks: what two files share of this is how alike they are."""
    with open(path, "rb") as file:
        return {piece for piece in re.split(rb"[;{},\n]", file.read()) if len(piece) >= 12}


def patch_from_files(pair):
    """A patch for each new file from the old file that it shares most text with, and from the one under its path."""
    old, new = files_of(pair.old), files_of(pair.new)
    said = {path: pieces(source) for path, source in old.items()}
    names, total, checked, plain = {source: path for path, source in new.items()}, 0, True, 0
    for source in new_files(pair):
        size, mine = os.path.getsize(source), pieces(source)
        shared = {path: sum(map(len, mine & theirs)) for path, theirs in said.items()}
        bases = {path for path in (names[source],) if path in old} | {path for path in [max(shared, key=shared.get)] if shared[path]}
        made = [zstd_made(pair, ["-19"], source)]
        for base in sorted(bases):
            window = max(size, os.path.getsize(old[base]), 1024).bit_length()
            made.append(zstd_made(pair, ["--ultra", "-22", f"--long={window}", f"--patch-from={old[base]}"], source))
        checked = checked and all(one["checked"] for one in made)
        best = min(one["bytes"] for one in made)
        plain += 1 if best == made[0]["bytes"] else 0
        total += min(best, size)
    return {"bytes": total, "checked": checked, "note": f"level 22; {plain} files are smaller without a base; no names"}


def patch_from_solid(pair):
    return zstd_made(pair, ["--ultra", "-22", "--long=27", f"--patch-from={pair.tars[0]}"], pair.tars[1])


def bsdiff(pair):
    need("bsdiff", "bspatch")
    made, back = pair.path("made.bsdiff"), pair.path("back")
    make = pair.measured(["bsdiff", *pair.tars, made])
    apply = pair.measured(["bspatch", pair.tars[0], back, made])
    return {"bytes": os.path.getsize(made), "make": make, "apply": apply, "checked": pair.same_as_new(back)}


def xdelta3(pair):
    need("xdelta3")
    made, back, window = pair.path("made.xdelta"), pair.path("back"), max(map(os.path.getsize, pair.tars))
    wide = ["-B", str(max(window, 1 << 19)), "-W", str(min(max(window, 1 << 14), 1 << 24))]
    make = pair.measured(["xdelta3", "-q", "-f", "-e", "-9", "-S", "lzma", *wide, "-s", pair.tars[0], pair.tars[1], made])
    apply = pair.measured(["xdelta3", "-q", "-f", "-d", "-B", wide[1], "-s", pair.tars[0], made, back])
    return {"bytes": os.path.getsize(made), "make": make, "apply": apply, "checked": pair.same_as_new(back)}


HDIFF = """
import hdiffpatch, sys
what, old, other, made = sys.argv[1:]
old, other = open(old, "rb").read(), open(other, "rb").read()
lzma = hdiffpatch.COMPRESSION_LZMA2
open(made, "wb").write(hdiffpatch.diff(old, other, lzma) if what == "diff" else hdiffpatch.apply(old, other))
"""


def hdiffpatch(pair):
    if subprocess.run([sys.executable, "-c", "import hdiffpatch"], capture_output=True).returncode != 0:
        raise Missing("the Python package hdiffpatch: pip install hdiffpatch")
    made, back = pair.path("made.hdiff"), pair.path("back")
    make = pair.measured([sys.executable, "-c", HDIFF, "diff", *pair.tars, made])
    apply = pair.measured([sys.executable, "-c", HDIFF, "apply", pair.tars[0], made, back])
    return {"bytes": os.path.getsize(made), "make": make, "apply": apply, "checked": pair.same_as_new(back), "note": "LZMA2"}
