#!/usr/bin/env python3
"""Applies a pack from a base: a second reader, written from the page "Packs from a base", with the zstd command.

usage: pack.py BASE OBJECTS PACK OUT
       pack.py --refuse NEW BASE OBJECTS PACK…     prints those that make the manifest NEW, and fails where there are any

BASE is a manifest; OBJECTS holds its contents under their SHA-256; OUT gets manifest.json and each new content under its own.
"""

import hashlib
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata

HELD = 16_777_216
HEAD, ROWS, LARGEST, TOKENS = 64_000_000, 100_000, 2**53 - 1, 100_000
PACK, WORK = 1 << 26, 20_000_000
MIME = {"js": "js", "mjs": "js", "css": "css", "html": "html", "htm": "html", "json": "json", "map": "map"}


class Refused(Exception):
    pass


def need(holds: bool, rule: str) -> None:
    if not holds:
        raise Refused(rule)


class Head:
    """The numbers and bytes of a head."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self, limit: int = LARGEST) -> int:
        value = 0
        for shift in range(0, 56, 7):
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                need((byte > 0 or shift == 0) and value <= limit, "number")
                return value
        raise Refused("number")

    def difference(self) -> int:
        number = self.number()
        return number >> 1 ^ -(number & 1)

    def take(self, count: int) -> bytes:
        need(count <= len(self.data) - self.at, "cut")
        self.at += count
        return self.data[self.at - count : self.at]

    def line(self) -> bytes:
        end = self.data.find(b"\n", self.at)
        need(end >= 0, "line")
        line, self.at = self.data[self.at : end], end + 1
        return line


def parsed(data: bytes) -> dict:
    def object_of(pairs: list) -> dict:
        need(len(dict(pairs)) == len(pairs), "key twice")
        return dict(pairs)

    def depth(value) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    value = json.loads(data, object_pairs_hook=object_of)
    need(isinstance(value, dict) and depth(value) <= 64, "object")
    return value


def path_of(data: bytes) -> str:
    path = data.decode()
    segments = path.split("/")
    need(all(0 < len(segment.encode()) <= 255 and segment not in (".", "..") for segment in segments), "segment")
    need(len(data) <= 1_024 and "\\" not in path and unicodedata.normalize("NFC", path) == path, "path")
    need(all(unicodedata.category(letter) != "Cc" for letter in path), "path")
    return path


def number(value: int) -> bytes:
    return bytes([value & 127 | 128]) + number(value >> 7) if value >= 128 else bytes([value])


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
        # Compared as they are written: null is not nothing, and 0 is not false.
        follows = [key for key in plain if key in row and file_form(plain[key]) == file_form(row[key])]
        others = {key: row[key] for key in row if key not in KNOWN and key not in follows}
        others.update({key: None for key in plain if key not in row})
        out += row["path"].encode() + (b"\t" + file_form(others) if others else b"") + b"\n"
    return out


FINGERPRINT = ("size", "md5", "sha1", "sha256")
KNOWN = FINGERPRINT + ("path",)


def fingerprint(content: bytes) -> dict:
    digests = {name: getattr(hashlib, name)(content).hexdigest() for name in FINGERPRINT[1:]}
    return {"size": len(content), **digests}


def said(frame: bytes) -> tuple:
    """The size of the content that a frame names, its window, and where its blocks begin (RFC 8878, 3.1.1.1)."""
    need(len(frame) > 5 and frame[:4] == b"\x28\xb5\x2f\xfd" and frame[4] & 0x0B == 0, "frame")
    single = frame[4] & 0x20
    width, at = (1 if single else 0, 2, 4, 8)[frame[4] >> 6], 5 if single else 6
    need(width > 0 and len(frame) >= at + width, "frame that names its size")
    size = int.from_bytes(frame[at : at + width], "little") + (256 if width == 2 else 0)
    base = 1 << (10 + (frame[5] >> 3))
    return size, size if single else base + base // 8 * (frame[5] & 7), at + width


def decoded(frame: bytes, prefix: bytes, size: int, window: int = 25) -> bytes:
    named, wide, at = said(frame)
    need(named == size and wide <= 1 << window, "size or window")
    last = False
    while not last:
        need(len(frame) >= at + 3, "cut")
        block = int.from_bytes(frame[at : at + 3], "little")
        last, at = block & 1, at + 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
    need(len(frame) == at + (4 if frame[4] & 4 else 0), "one frame")
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("prefix", "frame")]
        for path, content in zip(paths, (prefix, frame)):
            path.write_bytes(content)
        command = ["zstd", "-d", "-q", "-c", "--memory=64MB"] + (["--patch-from=%s" % paths[0]] if prefix else [])
        result = subprocess.run(command + [str(paths[1])], capture_output=True)
    need(result.returncode == 0 and len(result.stdout) == size, "zstd")
    return result.stdout


def decoded_lzma2(frame: bytes, prefix: bytes, size: int) -> bytes:
    """Python's lzma knows no preset dictionary: the prefix goes before it, in chunks that are not compressed."""
    stream = b""
    for start in range(0, len(prefix), 65_536):
        chunk = prefix[start : start + 65_536]
        stream += bytes([1 if start == 0 else 2]) + (len(chunk) - 1).to_bytes(2, "big") + chunk
    together = len(prefix) + size
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": max(4_096, together)}]
    decoder = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
    try:
        out = decoder.decompress(stream + frame, together + 1)
    except lzma.LZMAError as error:
        raise Refused("LZMA2") from error
    need(decoder.eof and not decoder.unused_data and len(out) == together, "LZMA2's end")
    return out[len(prefix) :]


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


def exceptional(head: Head, names: list, old: list) -> list:
    """The exceptional rows, by column."""
    rows, last = [], -1
    for _ in range(head.number(len(names))):
        last += head.number() + 1
        need(last < len(names), "place")
        rows.append({"row": last, "path": names[last][0]})
    for row in rows:
        flags = head.number(15)
        row.update(kind=flags & 3, gives=flags & 4, reference=None if flags & 8 == 0 else -1)
        need(flags & 8 > 0 if row["kind"] < 2 or row["gives"] else row["kind"] == 2 or flags & 8 == 0, "reference")
    at_row = at_reference = -1
    for row in rows:
        if row["reference"] is not None:
            at_reference += row["row"] - at_row + head.difference()
            need(0 <= at_reference < len(old), "reference")
            at_row, row["reference"] = row["row"], at_reference
    for row in rows:
        of_reference = 0 if row["reference"] is None else old[row["reference"]]["size"]
        row["size"] = head.difference() + of_reference if row["kind"] >= 2 else 0
        need(0 <= row["size"] <= 4_000_000_000 and (row["kind"] not in (1, 2) or of_reference <= HELD), "size")
    return rows


def apply(base_bytes: bytes, content, pack: bytes, limit: int = WORK) -> tuple:
    """The new manifest, and the contents that the pack brings."""
    base = json.loads(base_bytes)
    old = base["assets"]
    need(pack[:4] in (b"PLP\x01", b"PLP\x02") and len(pack) <= PACK, "no pack")
    version = pack[3]
    start = Head(pack[4:])
    frame = start.take(start.number(2 * HEAD))
    size = said(frame)[0]
    need(size <= HEAD, "head")
    head = Head(decoded(frame, head_text(base), size))
    at = 4 + start.at

    header = parsed(head.take(head.number()))
    need("assets" not in header, "header")
    names, groups = [], []
    for _ in range(head.number(ROWS)):
        name, tab, others = head.line().partition(b"\t")
        names.append((path_of(name), parsed(others) if tab else {}))
        need(not set(KNOWN) & set(names[-1][1]), "members")
        need(len(names) < 2 or names[-2][0].encode() < names[-1][0].encode(), "order")
    rows = exceptional(head, names, old)
    waiting = {kind: [row for row in rows if row["kind"] == kind] for kind in range(4)}
    work = sum(old[row["reference"]]["size"] for row in waiting[1])
    left = {kind: waiting[kind] for kind in (2, 3)}
    for _ in range(head.number(len(rows))):
        members = head.number()
        kind, count, is_lzma2 = 2 + (members & 1), members >> version, version == 2 and members & 2 > 0
        need(0 < count <= len(left[kind]), "group")
        group, left[kind] = left[kind][:count], left[kind][count:]
        size, once = sum(row["size"] for row in group), {row["reference"] for row in group} - {None}
        need(size <= HELD or kind == 3 and count == 1 and not is_lzma2, "group")
        work += size + (sum(old[one]["size"] for one in once) if kind == 2 else 0)
        groups.append((kind, group, size, is_lzma2, head.number(size + size // 256 + 512)))
    need(head.at == len(head.data) and not left[2] and not left[3], "head's end")
    fingerprints = {row["path"]: {key: row[key] for key in FINGERPRINT} for row in old}
    need(all(name in fingerprints for name in {name for name, _ in names} - {row["path"] for row in rows}), "unsaid")
    need(work <= limit, "work")

    put = {}
    for row in rows:
        if row["gives"]:
            for a, b in tokens(old[row["reference"]]["path"], row["path"]):
                put.setdefault(a, b)
    need(len(put) <= TOKENS, "tokens")
    pattern = re.compile(b"|".join(map(re.escape, sorted(put, key=len, reverse=True))))

    def reference(row: dict) -> bytes:
        nonlocal work
        bytes_ = content(old[row["reference"]]["sha256"])
        bytes_ = pattern.sub(lambda found: put[found[0]], bytes_) if put else bytes_
        work += len(bytes_)
        need(work <= limit and len(bytes_) <= HELD, "work")
        return bytes_

    made = {}
    for row in waiting[1]:
        made[row["row"]] = reference(row)
    for kind, group, size, is_lzma2, length in groups:
        once = {row["reference"]: row for row in group if row["reference"] is not None and kind == 2}
        prefix = b"".join(map(reference, once.values()))
        need(len(prefix) <= HELD and length <= len(pack) - at, "prefix or end")
        frame = pack[at : at + length]
        together = decoded_lzma2(frame, prefix, size) if is_lzma2 else decoded(frame, prefix, size, 23 if size > HELD else 25)
        at += length
        for row in group:
            made[row["row"]], together = together[: row["size"]], together[row["size"] :]
    need(at == len(pack), "bytes behind")

    result = {row["row"]: fingerprint(made[row["row"]]) for row in rows if row["kind"] > 0}
    for row in waiting[0]:
        result[row["row"]] = fingerprints[old[row["reference"]]["path"]]
    paths, assets = {path for path, _ in names}, []
    for place, (path, others) in enumerate(names):
        members = {**usual(path, paths), **others, "path": path}
        members = {key: value for key, value in members.items() if value is not None}
        assets.append({**members, **(result[place] if place in result else fingerprints[path])})
    return file_form({**header, "assets": assets}), list(made.values())


def refuse(new: str, base: pathlib.Path, objects: pathlib.Path, packs: list) -> int:
    asked, taken = hashlib.sha256(pathlib.Path(new).read_bytes()).digest(), 0
    for pack in packs:
        try:
            manifest, _ = apply(base.read_bytes(), lambda name: (objects / name).read_bytes(), pack.read_bytes())
            need(hashlib.sha256(manifest).digest() == asked, "other manifest")
            taken += print(pack.name) is None
        except (Refused, ValueError):
            pass
    return taken


def main() -> int:
    if sys.argv[1] == "--refuse":
        return refuse(sys.argv[2], *map(pathlib.Path, sys.argv[3:5]), list(map(pathlib.Path, sys.argv[5:])))
    base, objects, pack, out = map(pathlib.Path, sys.argv[1:])
    manifest, contents = apply(base.read_bytes(), lambda name: (objects / name).read_bytes(), pack.read_bytes(), 1 << 30)
    for content in contents:
        (out / hashlib.sha256(content).hexdigest()).write_bytes(content)
    (out / "manifest.json").write_bytes(manifest)
    print(hashlib.sha256(manifest).hexdigest())
    return 0


if __name__ == "__main__":
    sys.exit(main())
