#!/usr/bin/env python3
"""Applies a pack from a base: a second reader, written from the page "Packs from a base", with the zstd command.

usage: pack.py BASE OBJECTS PACK OUT

BASE is a manifest; OBJECTS holds its contents under their SHA-256; OUT gets manifest.json and each new content under its own.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HELD = 16_777_216
MIME = {"js": "js", "mjs": "js", "css": "css", "html": "html", "htm": "html", "json": "json", "map": "map"}


class Head:
    """The numbers and bytes of a head."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def difference(self) -> int:
        number = self.number()
        return number >> 1 ^ -(number & 1)

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def line(self) -> bytes:
        end = self.data.index(b"\n", self.at)
        line, self.at = self.data[self.at : end], end + 1
        return line


def number(value: int) -> bytes:
    out = b""
    while value >= 128:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def file_form(value) -> bytes:
    def escaped(text: str) -> str:
        text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return '"' + re.sub(r"[\x00-\x1f]", lambda found: "\\u%04x" % ord(found[0]), text) + '"'

    def form(value) -> str:
        if isinstance(value, dict):
            keys = sorted(value, key=lambda key: key.encode())
            return "{" + ",".join(escaped(key) + ":" + form(value[key]) for key in keys) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(form, value)) + "]"
        return escaped(value) if isinstance(value, str) else json.dumps(value)

    return form(value).encode()


def usual(path: str, paths: set) -> dict:
    escaped = "".join(chr(byte) if re.match(rb"[A-Za-z0-9_.~/-]", bytes([byte])) else "%%%02X" % byte for byte in path.encode())
    parts = path.split("/")[-1].split(".")
    members = {"cacheable": False, "type": MIME.get(parts[-1] if len(parts) > 1 else "", "asset"), "url": "/" + escaped}
    if path + ".map" in paths:
        members["sourceMap"] = path + ".map"
    return members


def head_text(manifest: dict) -> bytes:
    header = file_form({key: value for key, value in manifest.items() if key != "assets"})
    paths = {row["path"] for row in manifest["assets"]}
    out = number(len(header)) + header + number(len(paths))
    for row in manifest["assets"]:
        plain = usual(row["path"], paths)
        others = {key: value for key, value in row.items() if key not in FINGERPRINT and key != "path" and plain.get(key) != value}
        others.update({key: None for key in plain if key not in row})
        out += row["path"].encode() + (b"\t" + file_form(others) if others else b"") + b"\n"
    return out


FINGERPRINT = ("size", "md5", "sha1", "sha256")


def fingerprint(content: bytes) -> dict:
    digests = {name: getattr(hashlib, name)(content).hexdigest() for name in FINGERPRINT[1:]}
    return {"size": len(content), **digests}


def decoded(frame: bytes, prefix: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("prefix", "frame")]
        for path, content in zip(paths, (prefix, frame)):
            path.write_bytes(content)
        command = ["zstd", "-d", "-q", "-c", "--memory=64MB"] + (["--patch-from=%s" % paths[0]] if prefix else [])
        return subprocess.run(command + [str(paths[1])], check=True, stdout=subprocess.PIPE).stdout


def tokens(old: str, new: str) -> list:
    olds, news = old.encode().split(b"/"), new.encode().split(b"/")
    pairs = zip(olds, news) if len(olds) == len(news) else [(olds[-1], news[-1])]
    found = []
    for a, b in pairs:
        first, last, shorter = 0, 0, min(len(a), len(b))
        while first < shorter and a[first] == b[first]:
            first += 1
        while last < shorter - first and a[len(a) - 1 - last] == b[len(b) - 1 - last]:
            last += 1
        while first > 0 and re.match(rb"[A-Za-z0-9]", a[first - 1 : first]):
            first -= 1
        while last > 0 and re.match(rb"[A-Za-z0-9]", a[len(a) - last :][:1]):
            last -= 1
        a, b = a[first : len(a) - last], b[first : len(b) - last]
        if a != b and min(len(a), len(b)) >= 4:
            found.append((a, b))
    return found


def apply(base_bytes: bytes, content, pack: bytes) -> tuple:
    """The new manifest, and the contents that the pack brings."""
    base = json.loads(base_bytes)
    old = base["assets"]
    assert pack[:4] == b"PLP\x01", "no pack"
    start = Head(pack[4:])
    length = start.number()
    at = 4 + start.at
    head = Head(decoded(pack[at : at + length], head_text(base)))
    at += length

    header = json.loads(head.take(head.number()))
    names = [head.line().split(b"\t", 1) for _ in range(head.number())]
    count = head.number()
    rows, last = [], -1
    for _ in range(count):
        last += head.number() + 1
        rows.append({"row": last, "path": names[last][0].decode()})
    for row in rows:
        flags = head.number()
        row.update(kind=flags & 3, gives=flags & 4, reference=None if flags & 8 == 0 else -1)
    at_row = at_reference = -1
    for row in rows:
        if row["reference"] is not None:
            at_reference += row["row"] - at_row + head.difference()
            at_row, row["reference"] = row["row"], at_reference
    for row in rows:
        if row["kind"] >= 2:
            row["size"] = head.difference() + (0 if row["reference"] is None else old[row["reference"]]["size"])
    groups = []
    for _ in range(head.number()):
        members = head.number()
        groups.append((members >> 1, members & 1, head.number()))
    assert head.at == len(head.data), "bytes follow the head"

    put = {}
    for row in rows:
        if row["gives"]:
            for a, b in tokens(old[row["reference"]]["path"], row["path"]):
                put.setdefault(a, b)
    pattern = re.compile(b"|".join(map(re.escape, sorted(put, key=len, reverse=True))))

    def reference(row: dict) -> bytes:
        bytes_ = content(old[row["reference"]]["sha256"])
        return pattern.sub(lambda found: put[found[0]], bytes_) if put else bytes_

    made = {}
    waiting = {kind: [row for row in rows if row["kind"] == kind] for kind in range(4)}
    for row in waiting[1]:
        made[row["row"]] = reference(row)
    for members, is_plain, length in groups:
        kind = 3 if is_plain else 2
        group, waiting[kind] = waiting[kind][:members], waiting[kind][members:]
        once = {row["reference"]: row for row in group if row["reference"] is not None and not is_plain}
        together = decoded(pack[at : at + length], b"".join(map(reference, once.values())))
        at += length
        for row in group:
            made[row["row"]], together = together[: row["size"]], together[row["size"] :]
        assert not together, "a group is longer than its rows"
    assert at == len(pack) and not waiting[2] and not waiting[3], "bytes or rows are left"

    fingerprints = {row["path"]: {key: row[key] for key in FINGERPRINT} for row in old}
    result = {row["row"]: fingerprint(made[row["row"]]) for row in rows if row["kind"] > 0}
    for row in waiting[0]:
        result[row["row"]] = fingerprints[old[row["reference"]]["path"]]
    paths, assets = {name[0].decode() for name in names}, []
    for place, name in enumerate(names):
        path = name[0].decode()
        members = {**usual(path, paths), **(json.loads(name[1]) if len(name) > 1 else {}), "path": path}
        members = {key: value for key, value in members.items() if value is not None}
        assets.append({**members, **(result[place] if place in result else fingerprints[path])})
    return file_form({**header, "assets": assets}), list(made.values())


def main() -> None:
    base, objects, pack, out = map(pathlib.Path, sys.argv[1:])
    manifest, contents = apply(base.read_bytes(), lambda name: (objects / name).read_bytes(), pack.read_bytes())
    for content in contents:
        (out / hashlib.sha256(content).hexdigest()).write_bytes(content)
    (out / "manifest.json").write_bytes(manifest)
    print(hashlib.sha256(manifest).hexdigest())


main()
