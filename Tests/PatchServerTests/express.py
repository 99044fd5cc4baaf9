#!/usr/bin/env python3
"""Takes an express answer apart: a second reader, written from the page "Formats".

usage: express.py CHANNEL ANSWER OUT [PATH=FILE…]

OUT gets each file under its path; the newest root's version is printed. With the files that were named, in their order, ANSWER is
a difference to them, and the zstd command takes it apart.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

LIMITS = {"root": 512_000, "snapshot": 2_000_000, "patchlist.json": 16_000_000}
NUMBER = "[1-9][0-9]{0,15}"


def limit(path: str, channel: str) -> int:
    """The most bytes that the file may have; stops at a path that no answer has."""
    if path == "metadata/timestamp.json":
        return 16_384
    if role := re.fullmatch(f"metadata/{NUMBER}\\.(root|snapshot|targets|dial|{channel})\\.json", path):
        return LIMITS.get(role[1], 5_000_000)
    if re.fullmatch(f"targets/{channel}/[0-9a-f]{{64}}\\.patchlist\\.json", path):
        return LIMITS["patchlist.json"]
    if target := re.fullmatch(f"targets/dial/[0-9a-f]{{64}}\\.{channel}(\\.parameters)?\\.json", path):
        return 65_536 if target[1] else 1_000_000
    sys.exit(f"no path of an answer: {path}")


def read(data: bytes, channel: str) -> tuple[int, dict[str, bytes]]:
    if len(data) > 16_777_216:
        sys.exit("too long")
    version, newest, rest = data.split(b"\n", 2)
    if version != b"patchline-express-v1" or not re.fullmatch(NUMBER, newest.decode()):
        sys.exit("no express answer")
    files: dict[str, bytes] = {}
    while rest:
        line, rest = rest.split(b"\n", 1)
        path, length = line.decode().split(" ")
        if not re.fullmatch(f"0|{NUMBER}", length) or int(length) > limit(path, channel) or path in files:
            sys.exit(f"refused: {line}")
        count = int(length)
        if rest[count : count + 1] != b"\n":
            sys.exit(f"not of its length: {path}")
        files[path], rest = rest[:count], rest[count + 1 :]
    return int(newest), files


def written(part: bytes) -> bytes:
    """A file or path as it stands in the text of the named files."""

    def base64_run(found: re.Match[bytes]) -> bytes:
        raw = base64.b64decode(found[0])
        return b"\2" + len(raw).to_bytes(2, "big") + raw

    def hex_run(found: re.Match[bytes]) -> bytes:
        raw = bytes.fromhex(found[0].decode())
        return b"\1" + len(raw).to_bytes(2, "big") + raw

    pieces = re.split(rb"((?:[0-9a-f]{2}){16,}|(?:[A-Za-z0-9+/]{4}){32,})", part)
    return b"".join(
        piece if number % 2 == 0 else re.sub(rb"^[0-9a-f]+$", hex_run, piece) if re.fullmatch(rb"[0-9a-f]+", piece) else base64_run(re.match(rb".*", piece))
        for number, piece in enumerate(pieces)
    )


def plain(body: bytes, named: list[tuple[bytes, bytes]]) -> bytes:
    """The plain answer of a difference."""
    with tempfile.NamedTemporaryFile() as prefix, tempfile.NamedTemporaryFile() as frame:
        prefix.write(b"".join(written(data) + b"\0" + written(path) + b"\n" for path, data in reversed(named)))
        frame.write(body)
        prefix.flush(), frame.flush()
        text = subprocess.run(["zstd", "-d", "-q", "-c", f"--patch-from={prefix.name}", frame.name], check=True, capture_output=True).stdout
    root, rest = text.split(b"\n", 1)
    files: list[bytes] = []
    answer: list[bytes] = []

    def run(end: int) -> bytes:
        nonlocal rest
        out = b""
        while rest[0] != end:
            mark, count = rest[0], int.from_bytes(rest[1:3], "big")
            if mark in (1, 2):
                raw, rest = rest[3 : 3 + count], rest[3 + count :]
                out += raw.hex().encode() if mark == 1 else base64.b64encode(raw)
            elif mark == 3:
                out, rest = out + hashlib.sha256(files[rest[1]]).hexdigest().encode(), rest[2:]
            else:
                out, rest = out + rest[:1], rest[1:]
        rest = rest[1:]
        return out

    while rest:
        files.append(run(0))
        answer.insert(0, run(10) + b" %d\n" % len(files[-1]) + files[-1] + b"\n")
    return b"patchline-express-v1\n" + root + b"\n" + b"".join(answer)


if __name__ == "__main__":
    channel, answer, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    named = [(path.encode(), pathlib.Path(file).read_bytes()) for path, _, file in (word.partition("=") for word in sys.argv[4:])]
    newest, files = read(plain(answer.read_bytes(), named) if named else answer.read_bytes(), channel)
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)
    print(newest)
