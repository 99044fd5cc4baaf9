"""Images for containers as a tree of the OCI image layout 1.0, made without a daemon: a layer of the system's libraries, from
Debian's packages, and one of the program."""

import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import time

from files import Build, Files, compressed, run, tar

# The user whom Debian leaves to nobody else, as other images without a shell have it.
USER = 65532
# /etc/os-release and the folders; and the authorities of the web.
BASE = ["base-files", "ca-certificates"]
# Debian's own places for what lies in /usr.
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
LEFT_OUT = re.compile(r"usr/share/(man|info|locale|lintian|bug|base-files|doc/(?!.*/copyright$))|usr/lib/.*/(gconv|audit)/|(usr/)?sbin/")

IMAGES = {
    "patchsrv": {
        "Cmd": ["serve"],
        "Env": ["PATCHSRV_DATA=/var/lib/patchsrv", "PATCHSRV_HOST=0.0.0.0"],
        "ExposedPorts": {"8080/tcp": {}, "8081/tcp": {}},
        "Volumes": {"/var/lib/patchsrv": {}},
        "WorkingDir": "/var/lib/patchsrv",
    },
    "patchsync": {
        "Cmd": ["run", "--config", "/etc/patchline/patchsync.yaml"],
        "Env": ["RUNTIME_DIRECTORY=/run/patchline"],
        "Volumes": {"/var/lib/patchline": {}},
        "WorkingDir": "/var/lib/patchline",
    },
}


def placed(path: str) -> str:
    """A path of a package where it lies behind the links of a merged /usr."""
    first, slash, rest = path.partition("/")
    return f"{MERGED[first]}/{rest}" if slash and first in MERGED else path


def system(names: list[str], cache: pathlib.Path) -> tuple[Files, dict[str, str]]:
    """The files and links of Debian's packages, which are fetched where they are not in the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    files: Files = {}
    links = dict(MERGED)
    certificates = b""
    for name in sorted(names):
        version = run("apt-cache", "policy", name).split("Candidate: ")[1].split("\n")[0]
        mangled = version.replace(":", "%3a")
        if not (found := sorted(cache.glob(f"{name}_{mangled}_*.deb"))):
            run("apt-get", "download", "-qq", f"{name}={version}", cwd=cache, stderr=subprocess.DEVNULL)
            found = sorted(cache.glob(f"{name}_{mangled}_*.deb"))
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", found[0]], check=True, stdout=subprocess.PIPE).stdout
        # Where scanners look for it.
        files[f"var/lib/dpkg/status.d/{name}"] = (run("dpkg-deb", "--field", found[0]).encode(), 0o644)
        for entry in tarfile.open(fileobj=io.BytesIO(data)):
            path = placed(entry.name.removeprefix("./").rstrip("/"))
            if LEFT_OUT.match(path) or not path:
                continue
            if entry.issym():
                links[path] = entry.linkname
            elif entry.isfile():
                contents = tarfile.open(fileobj=io.BytesIO(data)).extractfile(entry.name).read()
                files[path] = (contents, entry.mode)
                if path.startswith("usr/share/ca-certificates/"):
                    certificates += contents
    files["etc/ssl/certs/ca-certificates.crt"] = (certificates, 0o644)
    files["etc/passwd"] = (f"root:x:0:0:root:/:/nonexistent\npatchline:x:{USER}:{USER}::/:/nonexistent\n".encode(), 0o644)
    files["etc/group"] = (f"root:x:0:\npatchline:x:{USER}:\n".encode(), 0o644)
    return files, {path: target for path, target in links.items() if path not in files}


class Tree:
    """An image layout, in a folder."""

    def __init__(self, folder: pathlib.Path, build: Build):
        self.folder, self.build = folder, build
        self.manifests: list[dict] = []
        self.blobs = folder / "blobs/sha256"
        self.blobs.mkdir(parents=True)

    def put(self, contents: bytes, kind: str) -> dict:
        digest = hashlib.sha256(contents).hexdigest()
        (self.blobs / digest).write_bytes(contents)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(contents)}

    def put_json(self, document: dict, kind: str) -> dict:
        return self.put(json.dumps(document, indent=1, sort_keys=True).encode(), kind)

    def add(self, program: str, layers: list[bytes]) -> None:
        about = IMAGES[program]
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.build.epoch))
        labels = {
            "org.opencontainers.image.title": program,
            "org.opencontainers.image.version": self.build.version,
            "org.opencontainers.image.created": moment,
        }
        configuration = {
            "created": moment,
            "architecture": self.build.arch,
            "os": "linux",
            "config": about | {"User": f"{USER}:{USER}", "Entrypoint": [f"/usr/bin/{program}"], "Labels": labels},
            "rootfs": {
                "type": "layers",
                "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers],
            },
            "history": [
                {"created": moment, "created_by": "libraries of Debian"},
                {"created": moment, "created_by": f"{program} {self.build.version}"},
            ],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": self.put_json(configuration, "config.v1+json"),
            "layers": [self.put(compressed(layer, 6), "layer.v1.tar+gzip") for layer in layers],
            "annotations": labels,
        }
        descriptor = self.put_json(manifest, "manifest.v1+json")
        descriptor["platform"] = {"architecture": self.build.arch, "os": "linux"}
        descriptor["annotations"] = {"org.opencontainers.image.ref.name": f"{program}-{self.build.version}"}
        self.manifests.append(descriptor)

    def finish(self) -> None:
        index = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": self.manifests,
        }
        (self.folder / "index.json").write_text(json.dumps(index, indent=1, sort_keys=True))
        (self.folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')


def images(folder: pathlib.Path, build: Build, contents: dict[str, Files], libraries: dict[str, list[str]], cache: pathlib.Path) -> None:
    """
    - contents: of the programs' packages, by program.
    - libraries: Debian's packages that each of them needs.
    - cache: where those lie that were fetched before.
    """
    tree = Tree(folder, build)
    for program in IMAGES:
        base, links = system(BASE + libraries[program], cache)
        state = "var/lib/patchsrv" if program == "patchsrv" else "var/lib/patchline"
        owned = {state: USER, "run/patchline": USER}
        own = {
            placed(path): value
            for path, value in contents[program].items()
            if path.startswith(("usr/bin/", "etc/")) or path.endswith(("/copyright", "NOTICE.gz", ".cdx.json"))
        }
        tree.add(program, [tar(base | {"tmp/.keep": (b"", 0o644)}, build.epoch, links=links), tar(own, build.epoch, owned=owned)])
    tree.finish()
