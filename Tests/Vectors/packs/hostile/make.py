#!/usr/bin/env python3
"""Writes the hostile packs again, byte for byte, and the fuzzer's seeds: their frames are made of raw and repeated blocks.

usage: make.py [FOLDER]               the folder of this file unless another is named

What a case expects is kept as it stands in cases.json: it is what this implementation says, and the tests compare.
"""

import hashlib
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
TESTS = FOLDER.parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TESTS / "PatchDeltaTests"))
import pack  # noqa: E402

SAME, MADE, PATCHED, PLAIN = range(4)
LARGEST = 2**53 - 1
HELD = pack.HELD
BLOCK = 131_072

BASE = {
    "app.1111aaaa.js": b'import "./lib.2222bbbb.js";\n',
    "index.html": b'<script src="app.1111aaaa.js"></script>\n',
    "lib.2222bbbb.js": b"export const lib = 1;\n",
    "many.txt": b"1111aaaa" * 2_048,
}
NEW = {
    "app.3333cccc.js": b'import "./lib.4444dddd.js";\n',
    "index.html": b'<script src="app.3333cccc.js"></script>\n',
    "lib.4444dddd.js": b"export const lib = 2;\n",
    "many.txt": BASE["many.txt"],
    "new.txt": b"new\n",
}
SIZES = [len(content) for content in BASE.values()]


def manifest(files: dict, version: str) -> dict:
    rows = [{**pack.usual(path, set(files)), "path": path, **pack.fingerprint(content)} for path, content in files.items()]
    head = {"app": "com.example.storefront", "compatibility": {}, "format": "patchline-manifest-v1", "index": "index.html"}
    return {**head, "assets": rows, "patchId": "web", "version": version}


def difference(value: int) -> bytes:
    return pack.number(value << 1 if value >= 0 else (-value << 1) - 1)


def frame(content=b"", *, repeated=0, size=None, window=None, dictionary=False, last=True) -> bytes:
    """`content`, or its one byte `repeated` times; `window` is the byte that RFC 8878 has for it."""
    count = repeated or len(content)
    size = count if size is None else size
    out = b"\x28\xb5\x2f\xfd" + bytes([0xC0 | (0x20 if window is None else 0) | (1 if dictionary else 0)])
    out += b"" if window is None else bytes([window])
    out += (b"\x07" if dictionary else b"") + size.to_bytes(8, "little")
    for start in range(0, max(1, count), BLOCK):
        length = min(BLOCK, count - start)
        ends = last and start + length == count
        block = content if repeated else content[start : start + length]
        out += (length << 3 | (2 if repeated else 0) | (1 if ends else 0)).to_bytes(3, "little") + block
    return out


def row(row: int, kind: int, reference=None, gives=False, size=0) -> dict:
    return {"row": row, "kind": kind, "reference": reference, "gives": gives, "size": size}


HEADER = pack.file_form({key: value for key, value in manifest(NEW, "2.0.0").items() if key != "assets"})


def names(rows, header=HEADER, count=None) -> bytes:
    lines = [line if isinstance(line, bytes) else line.encode() for line in rows]
    count = len(lines) if count is None else count
    return pack.number(len(header)) + header + pack.number(count) + b"".join(line + b"\n" for line in lines)


def text(rows, exceptional=(), groups=(), header=HEADER, version=1) -> bytes:
    out = names(rows, header) + pack.number(len(exceptional))
    last = -1
    for one in exceptional:
        out, last = out + pack.number(one["row"] - last - 1), one["row"]
    out += bytes(one["kind"] + (4 if one["gives"] else 0) + (0 if one["reference"] is None else 8) for one in exceptional)
    at_row = at_reference = -1
    for one in exceptional:
        if one["reference"] is not None:
            out += difference(one["reference"] - (at_reference + one["row"] - at_row))
            at_row, at_reference = one["row"], one["reference"]
    for one in exceptional:
        if one["kind"] >= PATCHED:
            out += difference(one["size"] - (0 if one["reference"] is None else SIZES[one["reference"]]))
    numbers = [pack.number(rows << version | plain) + pack.number(length) for rows, plain, length in groups]
    return out + pack.number(len(groups)) + b"".join(numbers)


def made(head: bytes, *frames: bytes, length=None, version=1) -> bytes:
    return b"PLP" + bytes([version]) + pack.number(len(head) if length is None else length) + head + b"".join(frames)


ROWS = list(NEW)
RIGHT = [row(0, MADE, 0, True), row(1, MADE, 1), row(2, PATCHED, 2, True, 22), row(4, PLAIN, size=4)]
PATCH, FRESH = frame(NEW["lib.4444dddd.js"]), frame(NEW["new.txt"])
GROUPS = [(1, 0, len(PATCH)), (1, 1, len(FRESH))]
HEAD = text(ROWS, RIGHT, GROUPS)
PACK = made(frame(HEAD), PATCH, FRESH)
START = names(ROWS)


def with_path(path) -> bytes:
    return made(frame(text([path], [row(0, SAME, 0)])))


def one_row(group: bytes, size=4, groups=None, reference=None) -> bytes:
    groups = [(1, 1, len(group))] if groups is None else groups
    return made(frame(text(["a"], [row(0, PLAIN, reference, size=size)], groups)), group)


def lzma2(*chunks: bytes, first=1, last=True) -> bytes:
    """Chunks that are not compressed (xz's `lzma2_decoder.c`): the first one empties the dictionary, or has 2 in place of 1."""
    out = b""
    for place, chunk in enumerate(chunks):
        out += bytes([first if place == 0 else 2]) + (len(chunk) - 1).to_bytes(2, "big") + chunk
    return out + (b"\0" if last else b"")


def one_lzma2_row(group: bytes, size=4) -> bytes:
    """A pack with one row in a plain group of LZMA2."""
    head = text(["a"], [row(0, PLAIN, size=size)], [(1, 3, len(group))], version=2)
    return made(frame(head), group, version=2)


def passing(group: bytes) -> bytes:
    """A pack with one content over what may be held."""
    return one_row(group, HELD + 1)


def whole(exceptional: list, rows: list, groups=(), *frames: bytes) -> bytes:
    return made(frame(text(rows, exceptional, groups)), *frames)


LONG = "app." + "X" * 200 + ".js"
OTHERS = ["b%02d" % place for place in range(47)]
GROWING = [row(0, MADE, 0, True)]
AGAIN = ["c%04d" % place for place in range(1_221)]
TINY, EMPTY = frame(b"x"), frame()
# Bytes that RFC 8878 has for windows of 2^23, 2^23 + 2^20, and 2^25 + 2^22 bytes.
USUAL, WIDER, WIDEST = 0x68, 0x69, 0x79


def large(**others) -> bytes:
    return frame(b"\0", **{"repeated": HELD + 1, "window": USUAL, **others})


CASES = [
    ("path-climbs", "A row's path leaves the folder.", with_path("../evil.js")),
    ("path-climbs-inside", "A row's path climbs behind a folder.", with_path("js/../../evil.js")),
    ("path-absolute", "A row's path is absolute.", with_path("/etc/passwd")),
    ("path-backslash", "A row's path climbs as on Windows.", with_path("..\\evil.js")),
    ("path-nul", "A row's path ends at a byte 0 for C.", with_path("evil.js\0.txt")),
    ("path-not-utf8", "A row's path climbs in too many bytes.", with_path(b"\xc0\xae\xc0\xae/evil.js")),
    ("path-twice", "Two rows have one path.", whole([], ["a", "a"])),
    ("path-of-a-link", "A row says that it is a link.", with_path('a\t{"target":"../../etc/passwd","type":"symlink"}')),
    ("path-below-a-file", "A row is a folder of another.", whole([row(0, SAME, 0), row(1, SAME, 1)], ["a", "a/b"])),
    ("size-in-a-row", "A row says its size itself.", with_path('a\t{"size":1}')),
    ("header-with-rows", "The header has rows of its own.", made(frame(text([], header=b'{"assets":[]}')))),
    ("header-too-deep", "The header is nested 65 deep.", made(frame(text([], header=b'{"a":' + b"[" * 64 + b"]" * 64 + b"}")))),
    ("counts-2-53-header", "The header has 2^53 - 1 bytes.", made(frame(pack.number(LARGEST)))),
    ("counts-2-53-rows", "There are 2^53 - 1 rows.", made(frame(names(ROWS, count=LARGEST)))),
    ("counts-2-53-exceptional", "2^53 - 1 rows are exceptional.", made(frame(START + pack.number(LARGEST)))),
    ("counts-2-53-place", "An exceptional row stands 2^53 - 1 behind.", made(frame(START + b"\1" + pack.number(LARGEST)))),
    ("counts-2-53-reference", "A reference is 2^52 behind.", made(frame(START + b"\1\0\x08" + pack.number(LARGEST - 1)))),
    ("counts-2-53-size", "A content has 2^52 bytes.", made(frame(START + b"\1\0\3" + pack.number(LARGEST - 1)))),
    ("counts-2-53-groups", "There are 2^53 - 1 groups.", made(frame(START + b"\1\4\3\2" + pack.number(LARGEST)))),
    ("counts-2-53-group", "A group has 2^52 rows.", one_row(FRESH, groups=[(2**52 - 1, 1, 9)])),
    ("counts-2-53-frame", "A group's frame has 2^53 - 1 bytes.", one_row(FRESH, groups=[(1, 1, LARGEST)])),
    ("number-over-2-53", "A number is over 2^53 - 1.", made(frame(pack.number(LARGEST + 1)))),
    ("number-endless", "A number does not end.", made(frame(b"\x80" * 20))),
    ("number-with-zeros", "A number has zeros in front.", made(frame(b"\x80\0"))),
    ("overlapping-groups", "Two groups take one row.", one_row(FRESH * 2, groups=GROUPS[1:] * 2)),
    ("row-in-no-group", "A row is in no group.", one_row(b"", groups=[])),
    ("row-unsaid", "A row is neither exceptional nor in the base.", whole([], ["a"])),
    ("self-reference", "A row is made of itself.", whole([row(4, MADE, 4)], ROWS)),
    ("reference-before-the-first", "A row is made of the row -1.", whole([row(4, MADE, -1)], ROWS)),
    ("reference-for-nothing", "A plain row has a reference and gives no tokens.", one_row(FRESH, reference=0)),
    ("kind-unknown", "A kind has a bit more.", made(frame(START + b"\1\0\x10"))),
    ("wrong-base", "The pack is right on another base.", whole([], ["index.html", "many.txt"])),
    ("wrong-content", "A content is another.", made(frame(HEAD), PATCH, frame(b"NEW\n"))),
    ("head-over-its-limit", "The head's frame names 64,000,001 bytes.", made(frame(b"\0", repeated=BLOCK, size=64_000_001))),
    ("head-longer-than-it-says", "20 bytes are named, and 131,072 come.", made(frame(b"\0", repeated=BLOCK, size=20, window=USUAL))),
    ("head-without-a-size", "The head's frame names no size.", made(b"\x28\xb5\x2f\xfd\0\x58\1\0\0")),
    ("head-with-a-dictionary", "The head's frame needs a dictionary.", made(frame(HEAD, dictionary=True))),
    ("head-behind-a-skipped-frame", "A frame to be skipped stands first.", made(b"\x50\x2a\x4d\x18\0\0\0\0" + frame(HEAD))),
    ("head-with-a-second-frame", "Two frames make the head.", made(frame(HEAD) + EMPTY)),
    ("head-in-a-wide-window", "The head's window has 2^25 + 2^22 bytes.", made(frame(HEAD, window=WIDEST))),
    ("head-with-a-byte-more", "A byte stands behind the groups' numbers.", made(frame(HEAD + b"\0"), PATCH, FRESH)),
    ("head-never-ending", "The head's frame is too long for any head.", made(frame(HEAD), length=64_250_001)),
    ("group-of-another-size", "A group's frame names another size.", made(frame(HEAD), PATCH, frame(b"new\n", size=5))),
    ("group-with-a-second-frame", "Two frames make a group.", one_row(FRESH + EMPTY)),
    ("group-in-a-wide-window", "A group's window has 2^25 + 2^22 bytes.", one_row(frame(b"new\n", window=WIDEST))),
    ("group-cut", "The last group ends early.", PACK[:-1]),
    ("group-behind-the-last", "A frame follows the last group.", PACK + EMPTY),
    ("bomb-of-groups", "Two groups have 16 MiB each.", whole([row(0, PLAIN, size=HELD), row(1, PLAIN, size=HELD)], ["a", "b"], [(1, 1, 600)] * 2)),
    ("bomb-that-passes", "A content has 4,000,000,000 bytes.", one_row(b"", 4_000_000_000, [(1, 1, 130_000)])),
    ("endless-tokens", "Tokens make 19 MB of a reference of 16 kB.", whole(GROWING + [row(place + 1, MADE, 3) for place in range(47)], [LONG] + OTHERS)),
    ("endless-prefixes", "Tokens make 19 MB of prefixes for 47 bytes.", whole(GROWING + [row(place + 1, PATCHED, 3, size=1) for place in range(47)], [LONG] + OTHERS, [(1, 0, len(TINY))] * 47, TINY * 47)),
    ("reference-again-and-again", "1,221 groups read 16 kB each.", whole([row(place, PATCHED, 3, size=1) for place in range(1_221)], AGAIN, [(1, 0, len(TINY))] * 1_221)),
    ("passing-of-another-size", "A frame that passes names another size.", passing(large(size=HELD + 2))),
    ("passing-without-a-size", "A frame that passes names no size.", passing(b"\x28\xb5\x2f\xfd\0" + bytes([USUAL]) + large()[14:])),
    ("passing-shorter-than-it-says", "A frame that passes makes less than it says.", passing(large(repeated=HELD, size=HELD + 1))),
    ("passing-longer-than-it-says", "A frame that passes makes more than it says.", passing(large(repeated=HELD + 2, size=HELD + 1))),
    ("passing-with-a-second-frame", "A second frame follows in the group.", passing(large() + EMPTY)),
    ("passing-with-a-byte-more", "A byte follows in the group.", passing(large() + b"\0")),
    ("passing-cut", "The group ends before its frame does.", passing(large(last=False))),
    ("passing-in-a-wide-window", "A frame that passes has a window of 2^23 + 2^20 bytes.", passing(large(window=WIDER))),
    ("passing-in-its-own-window", "A frame that passes is its own window.", passing(large(window=None))),
    ("lzma2-cut", "A group of LZMA2 ends before its end mark.", one_lzma2_row(lzma2(b"new\n", last=False))),
    ("lzma2-cut-in-a-chunk", "A group of LZMA2 ends within a chunk.", one_lzma2_row(lzma2(b"new\n")[:5])),
    ("lzma2-longer-than-it-says", "More comes out of LZMA2 than its rows have.", one_lzma2_row(lzma2(b"new\n", b"!"))),
    ("lzma2-shorter-than-it-says", "Less comes out of LZMA2 than its rows have.", one_lzma2_row(lzma2(b"new"))),
    ("lzma2-with-a-byte-more", "A byte follows behind the end mark.", one_lzma2_row(lzma2(b"new\n") + b"\0")),
    ("lzma2-without-a-dictionary", "The first chunk goes on with a dictionary that is not there.", one_lzma2_row(lzma2(b"new\n", first=2))),
    ("lzma2-without-properties", "The first chunk is compressed by settings that nobody gave.", one_lzma2_row(b"\x80\0\3\0\7" + bytes(9))),
    ("lzma2-of-noise", "A compressed chunk refers to what is not there.", one_lzma2_row(b"\xe0\0\3\0\7\x5d\0" + b"\xff" * 7 + b"\0")),
    ("lzma2-of-zstd", "What is named LZMA2 is zstd.", one_lzma2_row(FRESH)),
    ("lzma2-over-what-may-be-held", "A group of LZMA2 has 16,777,217 bytes.", one_lzma2_row(lzma2(b"new\n"), HELD + 1)),
    ("lzma2-in-version-1", "A pack of version 1 has the numbers of version 2.", b"PLP\1" + one_lzma2_row(lzma2(b"new\n"))[4:]),
    ("other-version", "The version is 3.", b"PLP\3" + PACK[4:]),
    ("nothing", "There are no bytes.", b""),
]


def main() -> None:
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    known = FOLDER / "cases.json"
    expect = {row["case"]: row["expect"] for row in json.loads(known.read_text())["cases"]} if known.exists() else {}
    cases = [{"case": name, "why": why, "expect": expect.get(name) or "?"} for name, why, _ in CASES]
    (out / "contents").mkdir(parents=True, exist_ok=True)
    (out / "cases.json").write_text(json.dumps({"format": "patchline-hostile-packs-v1", "cases": cases}, indent=1) + "\n")
    (out / "base.json").write_bytes(pack.file_form(manifest(BASE, "1.0.0")))
    (out / "new.json").write_bytes(pack.file_form(manifest(NEW, "2.0.0")))
    for content in BASE.values():
        (out / "contents" / hashlib.sha256(content).hexdigest()).write_bytes(content)
    (out / "from-base.pack").write_bytes(PACK)
    for name, _, bytes_ in CASES:
        (out / f"{name}.pack").write_bytes(bytes_)
    # For the fuzzer, which frames a head's text itself: the right pack, and one of a plain row in the empty base.
    seeds = [(128, HEAD, PATCH + FRESH), (130, text(["a"], [row(0, PLAIN, size=4)], GROUPS[1:]), FRESH)]
    group = lzma2(NEW["new.txt"])
    seeds.append((194, text(["a"], [row(0, PLAIN, size=4)], [(1, 3, len(group))], version=2), group))
    for place, (first, head, frames) in enumerate(seeds):
        (out / f"text-{place}.seed").write_bytes(bytes([first]) + len(head).to_bytes(2, "big") + head + frames)


main()
