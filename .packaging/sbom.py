"""What a program is made of, as CycloneDX 1.6: the Swift packages that are linked into it, with what they carry themselves, and the
system's libraries that it loads."""

import json
import pathlib
import re
import subprocess
import uuid

# No dependency names its licence in its manifest; each has the text of one of these as a file.
LICENCES = [
    (re.compile(r"Apache License.*Runtime Library Exception", re.DOTALL), "Apache-2.0 WITH Swift-exception"),
    (re.compile(r"Apache License"), "Apache-2.0"),
    (re.compile(r"MIT License"), "MIT"),
]

# By package: name, the file and the pattern that tell its version, its licence, and its package URL up to the version.
CARRIED = {
    "swift-nio": [
        (
            "llhttp",
            "Sources/CNIOLLHTTP/include/c_nio_llhttp.h",
            r"^#define LLHTTP_VERSION_[A-Z]+ (\d+)",
            "MIT",
            "pkg:github/nodejs/llhttp@",
        )
    ],
    "swift-nio-extras": [
        (
            "zlib",
            "Sources/CNIOExtrasZlib/include/nioextras-zlib.h",
            r'^#define CNIOEXTRAS_ZLIB_VERSION "([0-9.]+)',
            "Zlib",
            "pkg:github/madler/zlib@",
        )
    ],
    "swift-nio-ssl": [
        (
            "boringssl",
            "Sources/CNIOBoringSSL/hash.txt",
            r"revision ([0-9a-f]{40})",
            "Apache-2.0",
            "pkg:github/google/boringssl@",
        )
    ],
}


def licence(text: str) -> str:
    return next(name for pattern, name in LICENCES if pattern.search(text))


class SwiftPackages:
    """Which packages a build has, and which of them are in which program."""

    def __init__(self, source: pathlib.Path, scratch: pathlib.Path, products: pathlib.Path):
        command = ["swift", "package", "--scratch-path", scratch, "show-dependencies", "--format", "json"]
        shown = subprocess.run(command, cwd=source, check=True, stdout=subprocess.PIPE, text=True).stdout
        self.root = json.loads(shown[shown.index("{") :])
        self.checkouts, self.products = scratch / "checkouts", products
        self.packages: dict[str, dict] = {}
        self.requires: dict[str, set[str]] = {}
        self._collect(self.root)
        build = json.loads((products / "description.json").read_text())
        self.modules = {
            command["moduleName"]: owner
            for command in build["swiftCommands"].values()
            if (owner := self._owner(command["sources"][0]))
        }

    def _collect(self, package: dict) -> None:
        for below in package["dependencies"]:
            self.requires.setdefault(package["identity"], set()).add(below["identity"])
            self.packages[below["identity"]] = below
            self._collect(below)

    def _owner(self, source: str) -> str | None:
        match = re.search(r"/checkouts/([^/]+)/", source)
        return match and match[1].lower()

    def linked(self, program: str) -> list[str]:
        """The identities of the packages that any module of the program comes from."""
        objects = (self.products / f"{program}.product/Objects.LinkFileList").read_text().replace("'", "").split("\n")
        found = set()
        for module in {match[1] for line in objects if (match := re.search(r"/([^/]+)\.build/", line))}:
            folders = list(self.checkouts.glob(f"*/Sources/{module}"))
            owner = self.modules.get(module) or (folders[0].parent.parent.name.lower() if len(folders) == 1 else None)
            if owner:
                found.add(owner)
            elif not any(self.root_sources.glob(f"*/{module}")):
                raise SystemExit(f"error: nobody knows which package the module {module} of {program} is from")
        return sorted(found)

    @property
    def root_sources(self) -> pathlib.Path:
        return pathlib.Path(self.root["path"]) / "Sources"

    def folder(self, identity: str) -> pathlib.Path:
        return next(folder for folder in self.checkouts.iterdir() if folder.name.lower() == identity)

    def licence_file(self, identity: str) -> pathlib.Path:
        return next(iter(sorted(self.folder(identity).glob("LICENSE*"))))

    def reference(self, identity: str) -> str:
        """A package URL: https://github.com/package-url/purl-spec, type swift."""
        package = self.packages[identity]
        return f"pkg:swift/{package['url'].removeprefix('https://').removesuffix('.git')}@{package['version']}"


def swift_version() -> str:
    shown = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    return re.search(r"Swift version (\S+)", shown)[1]


def carried(packages: SwiftPackages, identity: str) -> list[dict]:
    """What a package has within it that others wrote, and by which its faults are looked up."""
    parts = []
    for name, source, pattern, identifier, reference in CARRIED.get(identity, []):
        numbers = re.findall(pattern, (packages.folder(identity) / source).read_text(), re.MULTILINE)
        if not numbers:
            raise SystemExit(f"error: {source} of {identity} does not tell the version of {name}")
        reference = f"{reference}{'.'.join(numbers)}"
        part = {"type": "library", "bom-ref": reference, "name": name, "version": ".".join(numbers), "purl": reference}
        parts.append(part | {"licenses": [{"license": {"id": identifier}}]})
    return parts


def bill(program: str, version: str, packages: SwiftPackages, libraries: dict[str, str], arch: str, time: str) -> dict:
    """
    - libraries: of Debian, name and version.
    """
    linked = packages.linked(program)
    own = f"{program}@{version}"
    components, requires = [], {own: []}
    for identity in linked:
        reference = packages.reference(identity)
        text = licence(packages.licence_file(identity).read_text())
        component = {
            "type": "library",
            "bom-ref": reference,
            "name": identity,
            "version": packages.packages[identity]["version"],
            "licenses": [{"expression": text} if " WITH " in text else {"license": {"id": text}}],
            "purl": reference,
        }
        if within := carried(packages, identity):
            component["components"] = within
            requires[reference] = [part["bom-ref"] for part in within]
        components.append(component)
        below = [packages.reference(name) for name in packages.requires.get(identity, set()) if name in linked]
        requires[reference] = sorted(below + requires.get(reference, []))
    swift = f"pkg:github/swiftlang/swift@swift-{swift_version()}-RELEASE"
    components.append(
        {
            "type": "library",
            "bom-ref": swift,
            "name": "swift-runtime",
            "version": swift_version(),
            "description": "Swift's own libraries, linked in.",
            "licenses": [{"expression": "Apache-2.0 WITH Swift-exception"}],
            "purl": swift,
        }
    )
    for name, number in sorted(libraries.items()):
        reference = f"pkg:deb/debian/{name}@{number}?arch={arch}&distro=debian-12"
        components.append(
            {"type": "library", "bom-ref": reference, "name": name, "version": number, "scope": "required", "purl": reference}
        )
    direct = packages.requires[packages.root["identity"]]
    requires[own] = sorted(
        [packages.reference(name) for name in linked if name in direct]
        + [component["bom-ref"] for component in components if component["name"] not in linked]
    )
    for component in components:
        requires.setdefault(component["bom-ref"], [])
        for part in component.get("components", []):
            requires.setdefault(part["bom-ref"], [])
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": program,
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": below} for name, below in sorted(requires.items())],
    }
    # The same contents have the same number.
    name = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}"
    return document
