"""A Debian package of a program, without debhelper."""

import email.utils
import hashlib
import os
import pathlib
import subprocess
import tempfile

from files import HERE, PROGRAMS, Build, Files, compressed, folders
from sbom import SwiftPackages, licence

APACHE = """ Licensed under the Apache License, Version 2.0 (the "License"); you may not
 use this file except in compliance with the License.
 .
 On Debian systems, the complete text of the Apache License, Version 2.0 can
 be found in "/usr/share/common-licenses/Apache-2.0".
"""
EXCEPTION = """ .
 As an exception, if you use this Software to compile your source code and
 portions of this Software are embedded into the binary product as a result,
 you may redistribute such product without providing attribution as would
 otherwise be required by Sections 4(a), 4(b) and 4(d) of the License.
"""
ZLIB = """ This software is provided 'as-is', without any express or implied warranty.
 In no event will the authors be held liable for any damages arising from the
 use of this software.
 .
 Permission is granted to anyone to use this software for any purpose,
 including commercial applications, and to alter it and redistribute it
 freely, subject to the following restrictions:
 .
 1. The origin of this software must not be misrepresented; you must not claim
    that you wrote the original software. If you use this software in a
    product, an acknowledgment in the product documentation would be
    appreciated but is not required.
 2. Altered source versions must be plainly marked as such, and must not be
    misrepresented as being the original software.
 3. This notice may not be removed or altered from any source distribution.
"""


def indented(text: str) -> str:
    """As a field of several lines has it."""
    return "".join(f" {line.rstrip()}\n" if line.strip() else " .\n" for line in text.strip("\n").split("\n"))


def copyright(program: str, packages: SwiftPackages) -> bytes:
    linked = packages.linked(program)
    text = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Patchline\n"
    text += (
        "\nFiles: *\nCopyright: 2026 the authors of Patchline\nLicense: Apache-2.0\n"
    )
    for identity in linked:
        name = licence(packages.licence_file(identity).read_text()).replace(" WITH Swift-exception", "-with-Swift-exception")
        text += (
            f"\nFiles: linked-in/{identity}\nCopyright: the authors of {identity}, {packages.packages[identity]['url']}\n"
            f"License: {name}\n"
        )
    text += "\nFiles: linked-in/swift\nCopyright: Apple Inc. and the Swift project authors\nLicense: Apache-2.0-with-Swift-exception\n"
    if "swift-nio" in linked:
        mit = (packages.folder("swift-nio") / "Sources/CNIOLLHTTP/LICENSE").read_text()
        text += "\nFiles: linked-in/llhttp\nCopyright: 2018 Fedor Indutny\nLicense: MIT\n" + indented(mit)
    if "swift-nio-ssl" in linked:
        text += (
            "\nFiles: linked-in/boringssl\nCopyright: The BoringSSL Authors, The OpenSSL Project Authors\n"
            "License: Apache-2.0\n"
        )
    if "swift-nio-extras" in linked:
        text += f"\nFiles: linked-in/zlib\nCopyright: 1995-2026 Jean-loup Gailly and Mark Adler\nLicense: Zlib\n{ZLIB}"
    text += f"\nLicense: Apache-2.0\n{APACHE}\nLicense: Apache-2.0-with-Swift-exception\n{APACHE}{EXCEPTION}"
    return text.encode()


def notices(program: str, packages: SwiftPackages) -> bytes:
    """What the licences of linked packages ask to pass on."""
    parts = []
    for identity in packages.linked(program):
        for file in sorted(packages.folder(identity).glob("NOTICE*")):
            parts.append(f"==== {identity} ====\n\n{file.read_text().strip()}\n")
    return "\n".join(parts).encode()


def documents(program: str, build: Build, packages: SwiftPackages, bill: bytes) -> Files:
    place = f"usr/share/doc/{program}"
    date = email.utils.formatdate(build.epoch)
    changes = (
        f"{program} ({build.version}) unstable; urgency=medium\n\n"
        f"  * Version {build.version}.\n\n -- {build.maintainer}  {date.replace('-0000', '+0000')}\n"
    )
    # The place that `PROGRAM help topics` names.
    pages = (HERE.parent / "Sources/Device/Patchline/Patchline.docc").glob("*.md")
    return {f"{place}/pages/{page.name}": (page.read_bytes(), 0o644) for page in sorted(pages)} | {
        f"{place}/copyright": (copyright(program, packages), 0o644),
        f"{place}/changelog.gz": (compressed(changes.encode()), 0o644),
        f"{place}/NOTICE.gz": (compressed(notices(program, packages)), 0o644),
        f"{place}/{program}.cdx.json": (bill, 0o644),
    }


def scripts(program: str) -> dict[str, bytes]:
    """The maintainer scripts, with what each unit needs in its place."""
    units = " ".join(PROGRAMS[program]["units"])
    found = {}
    for moment in ("postinst", "prerm", "postrm"):
        file = HERE / "debian" / f"{program}.{moment}"
        if file.exists():
            services = (HERE / "debian" / f"services.{moment}").read_text().replace("#UNITS#", units).rstrip("\n")
            found[moment] = file.read_text().replace("#SERVICES#", services).encode()
    return found


def control(program: str, build: Build, files: Files, depends: str) -> str:
    about = PROGRAMS[program]
    size = len(folders(files)) + sum(-(-len(contents) // 1024) for contents, _ in files.values())
    fields = {
        "Package": program,
        "Version": build.version,
        "Section": about["section"],
        "Priority": "optional",
        "Architecture": build.arch,
        "Maintainer": build.maintainer,
        "Installed-Size": size,
        "Depends": ", ".join([*about["depends"], depends]),
        "Recommends": ", ".join(about["recommends"]),
        "Description": about["summary"],
    }
    # A field without a value is none.
    text = "".join(f"{name}: {value}\n" for name, value in fields.items() if value != "")
    return text + "".join(f" {line}\n" if line else " .\n" for line in about["description"])


def package(program: str, build: Build, files: Files, depends: str, folder: pathlib.Path) -> pathlib.Path:
    overrides = HERE / "debian" / f"{program}.overrides"
    if overrides.exists():
        files = files | {f"usr/share/lintian/overrides/{program}": (overrides.read_bytes(), 0o644)}
    result = folder / f"{program}_{build.version}_{build.arch}.deb"
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch) / "root"
        sums = "".join(
            f"{hashlib.md5(contents).hexdigest()}  {path}\n"
            for path, (contents, _) in sorted(files.items())
            if path not in PROGRAMS[program]["conffiles"]
        )
        kept = "".join(f"/{path}\n" for path in PROGRAMS[program]["conffiles"])
        meta = {"control": (control(program, build, files, depends).encode(), 0o644), "md5sums": (sums.encode(), 0o644)}
        if kept:
            meta["conffiles"] = (kept.encode(), 0o644)
        meta |= {name: (contents, 0o755) for name, contents in scripts(program).items()}
        for path, (contents, mode) in (files | {f"DEBIAN/{name}": value for name, value in meta.items()}).items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(contents)
            file.chmod(mode)
        for path in PROGRAMS[program]["folders"]:
            (root / path).mkdir(parents=True, exist_ok=True)
        for place in [root, *(entry for entry in root.rglob("*") if entry.is_dir())]:
            place.chmod(0o755)
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(build.epoch)}
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, result]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return result
