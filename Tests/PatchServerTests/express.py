#!/usr/bin/env python3
"""Takes an express answer apart: a second reader, written from the page "Formats".

usage: express.py CHANNEL ANSWER OUT

OUT gets each file under its path; the newest root's version is printed.
"""

import pathlib
import re
import sys

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


if __name__ == "__main__":
    channel, answer, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    newest, files = read(answer.read_bytes(), channel)
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)
    print(newest)
