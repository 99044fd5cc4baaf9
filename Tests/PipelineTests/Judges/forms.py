"""Asks a host for every compressed form of a published tree, as any HTTP client may: forms.py URL TREE [--packs]

URL and TREE are of the app's folder. Every form comes to whoever accepts it, decodes to the plain file, has a tag of its own and
answers ranges; whoever accepts none gets the plain file. With --packs plain packs are served too, else they are a 404.
"""
import gzip, http.client, os, subprocess, sys, urllib.parse

url, tree = sys.argv[1:3]
base = urllib.parse.urlsplit(url)
wrong, asked = [], 0


def ask(path, **fields):
    connection = http.client.HTTPConnection(base.hostname, base.port, timeout=300)
    connection.request("GET", base.path + "/" + path, headers={name.replace("_", "-"): value for name, value in fields.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def decoded(body, coding):
    if coding == "gzip":
        return gzip.decompress(body)
    return subprocess.run(["zstd", "-dc"], input=body, stdout=subprocess.PIPE, check=True).stdout


def expect(path, what, found, wanted):
    if found != wanted:
        wrong.append(f"{path}: {what}: {found!r} in place of {wanted!r}")


def file(path):
    with open(os.path.join(tree, path), "rb") as opened:
        return opened.read()


for folder, _, names in sorted(os.walk(tree)):
    for name in sorted(names):
        if not name.endswith(".zst"):
            continue
        plain = os.path.relpath(os.path.join(folder, name), tree)[: -len(".zst")]
        tags, contents, sizes = set(), set(), set()
        for coding, suffix, accepted in [("zstd", ".zst", "zstd, gzip"), ("gzip", ".gz", "gzip"), ("zstd", ".zst", "br, zstd;q=0.5")]:
            if not os.path.exists(os.path.join(tree, plain + suffix)):
                continue
            asked += 1
            form = file(plain + suffix)
            sizes.add(len(form))
            status, fields, body = ask(plain, Accept_Encoding=accepted)
            expect(plain, accepted, (status, fields["Content-Encoding"]), (200, coding))
            expect(plain, "the form's bytes", body, form)
            expect(plain, "Vary", "accept-encoding" in (fields["Vary"] or "").lower(), True)
            contents.add(decoded(body, coding))
            tag = fields["ETag"]
            tags.add(tag)
            middle = len(form) // 2
            status, fields, body = ask(plain, Accept_Encoding=accepted, Range=f"bytes={middle}-", If_Range=tag)
            expect(plain, "a range", (status, fields["Content-Encoding"], body), (206, coding, form[middle:]))
            expect(plain, "its place", fields["Content-Range"], f"bytes {middle}-{len(form) - 1}/{len(form)}")
            status, fields, body = ask(plain, Accept_Encoding=accepted, Range=f"bytes={middle}-", If_Range='"of another form"')
            expect(plain, "a range of another form", (status, body), (200, form))
            status, _, _ = ask(plain, Accept_Encoding=accepted, If_None_Match=tag)
            expect(plain, "the same again", status, 304)
        for accepted in ["identity", "br", "gzip;q=0, zstd;q=0"]:
            status, fields, body = ask(plain, Accept_Encoding=accepted)
            if plain.startswith("packs/") and "--packs" not in sys.argv:
                expect(plain, accepted, status, 404)
                continue
            expect(plain, accepted, (status, fields["Content-Encoding"]), (200, None))
            contents.add(body)
            tags.add(fields["ETag"])
        expect(plain, "contents", len(contents), 1)
        # A tag that is made of time and size, as nginx's, may be the same for two forms of one size.
        if len(sizes) == 2 or "--packs" in sys.argv:
            packs = plain.startswith("packs/") and "--packs" not in sys.argv
            expect(plain, "tags", len(tags), 2 if packs else 3)
        if not plain.startswith("packs/"):
            expect(plain, "the plain file", contents, {file(plain)})
        for suffix in [".zst", ".gz"]:
            expect(plain, "never encoded twice", ask(plain + suffix, Accept_Encoding="zstd, gzip")[1]["Content-Encoding"], None)
print("\n".join(wrong + [f"{asked} forms asked for"]))
sys.exit(1 if wrong else 0)
