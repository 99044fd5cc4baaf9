"""What a package puts where, as bytes in memory: so nothing of the machine that makes it gets in."""

import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = json.loads((HERE / "programs.json").read_text())

# By path, without a slash before it: contents and mode.
Files = dict[str, tuple[bytes, int]]


def run(*command, **options) -> str:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def compressed(contents: bytes, level: int = 9) -> bytes:
    return gzip.compress(contents, level, mtime=0)


class Build:
    """The programs, and what is known of them all."""

    def __init__(self, binaries: pathlib.Path, source: pathlib.Path):
        self.binaries, self.source = binaries, source
        self.version = run(binaries / "patchsync", "--version").strip()
        told = {name: run(binaries / name, "--version").strip() for name in PROGRAMS}
        if set(told.values()) != {self.version}:
            raise SystemExit(f"error: the programs are of several versions: {told}")
        self.arch = run("dpkg", "--print-architecture").strip()
        log = lambda form: run("git", "-C", source, "log", "-1", f"--format={form}").strip()
        self.epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or log("%ct"))
        self.maintainer = os.environ.get("PATCHLINE_MAINTAINER") or log("%an <%ae>")

    def stripped(self, program: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / program
            run("strip", "--remove-section=.comment", "--remove-section=.note", "-o", file, self.binaries / program)
            return file.read_bytes()

    def libraries(self, program: str) -> tuple[str, dict[str, str]]:
        """What a package of it depends on, and the versions that are here."""
        with tempfile.TemporaryDirectory() as folder:
            control = pathlib.Path(folder) / "debian/control"
            control.parent.mkdir()
            control.write_text(f"Source: patchline\n\nPackage: {program}\nArchitecture: any\n")
            found = run("dpkg-shlibdeps", "-O", "-e", self.binaries / program, cwd=folder, stderr=subprocess.DEVNULL)
        depends = found.partition("=")[2].strip()
        # Packed relocations need glibc 2.36, by a version that no symbol has and that dpkg-shlibdeps ignores.
        if b"GLIBC_ABI_DT_RELR" in (self.binaries / program).read_bytes():
            depends = re.sub(r"libc6 \(>= 2\.(\d+)\)", lambda found: f"libc6 (>= 2.{max(int(found[1]), 36)})", depends)
        names = [re.match(r"[^ ]+", part)[0] for part in depends.split(", ")]
        return depends, {name: run("dpkg-query", "-W", "-f", "${Version}", name) for name in names}


def manual(program: str, folder: pathlib.Path) -> Files:
    pages = sorted(folder.glob(f"{program}.*1"))
    if not pages:
        raise SystemExit(f"error: {folder} has no manual pages of {program}")
    return {f"usr/share/man/man1/{page.name}.gz": (compressed(page.read_bytes()), 0o644) for page in pages}


def completions(program: str, build: Build) -> Files:
    places = {
        "bash": f"usr/share/bash-completion/completions/{program}",
        "zsh": f"usr/share/zsh/vendor-completions/_{program}",
        "fish": f"usr/share/fish/vendor_completions.d/{program}.fish",
    }
    script = lambda shell: run(build.binaries / program, "--generate-completion-script", shell).encode()
    found = {place: (script(shell), 0o644) for shell, place in places.items()}
    # It is read by a shell, and is no program.
    found[places["bash"]] = (script("bash").removeprefix(b"#!/bin/bash\n"), 0o644)
    return found


def system_files(program: str) -> Files:
    """Units, settings and examples."""
    about, files = PROGRAMS[program], {}
    for unit in about["units"]:
        files[f"lib/systemd/system/{unit}"] = ((HERE / "units" / unit).read_bytes(), 0o644)
    for place, name in about["conffiles"].items():
        files[place] = ((HERE / "examples" / name).read_bytes(), 0o644)
    for name in about["examples"]:
        files[f"usr/share/doc/{program}/examples/{name}"] = ((HERE / "examples" / name).read_bytes(), 0o644)
    return files


def folders(files: Files) -> list[str]:
    """Every folder that the files need, the outer ones first."""
    return sorted({str(above) for path in files for above in pathlib.PurePosixPath(path).parents} - {"."})


def tar(files: Files, epoch: int, *, links: dict[str, str] | None = None, owned: dict[str, int] | None = None) -> bytes:
    """
    - links: symbolic ones, by path.
    - owned: folders that a user other than root has, by path; they are made.
    """
    links, owned = links or {}, owned or {}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:

        def add(path: str, kind: bytes, mode: int, contents: bytes = b"", target: str = "", owner: int = 0) -> None:
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode, entry.mtime, entry.size, entry.linkname = kind, mode, epoch, len(contents), target
            entry.uid = entry.gid = owner
            archive.addfile(entry, io.BytesIO(contents))

        for path in folders(files | dict.fromkeys([*links, *(f"{place}/." for place in owned)])):
            if path not in owned:
                add(path, tarfile.DIRTYPE, 0o1777 if path == "tmp" else 0o755)
        for path, owner in sorted(owned.items()):
            add(path, tarfile.DIRTYPE, 0o750, owner=owner)
        for path, (contents, mode) in sorted(files.items()):
            add(path, tarfile.REGTYPE, mode, contents)
        for path, target in sorted(links.items()):
            add(path, tarfile.SYMTYPE, 0o777, target=target)
    return buffer.getvalue()
