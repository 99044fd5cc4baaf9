"""What real.sh and run.sh ask of Python: unpack a wheel, hold a manifest against it, make a bundle."""

import base64, csv, hashlib, io, json, os, random, re, sys, zipfile

LEFT_OUT = (".map", ".gz", ".br", ".py", ".pyi", ".pyc", "py.typed")


def unpack(wheel, root, folder):
    """Unpacks the files under `root` into `folder`, and prints them as `sha256sum` would: by the digests of the
    wheel's own RECORD, which the unpacked bytes must have."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        dist_info = next(name for name in names if name.endswith(".dist-info/RECORD"))
        rows = csv.reader(io.StringIO(archive.read(dist_info).decode()))
        record = {row[0]: row[1].removeprefix("sha256=") for row in rows}
        found = [name for name in names if name.startswith(root) and not name.endswith(("/", *LEFT_OUT))]
        if not found:
            sys.exit(f"{wheel} has no files under {root}")
        for name in sorted(found):
            data = archive.read(name)
            digest = hashlib.sha256(data)
            if base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode() != record[name]:
                sys.exit(f"{wheel}: {name} is not what the wheel's RECORD says")
            path = os.path.join(folder, name.removeprefix(root))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            print(f"{digest.hexdigest()}  {name.removeprefix(root)}")


def fetch(manifest, wanted, server):
    """Prints a curl configuration that gets every URL of a manifest into a file of its path.

    The manifest must have exactly the files of the wheel, with their digests."""
    with open(wanted) as file:
        files = {path: digest for digest, path in (line.rstrip("\n").split("  ", 1) for line in file)}
    with open(manifest, "rb") as file:
        assets = json.load(file)["assets"]
    described = {asset["path"]: asset["sha256"] for asset in assets}
    for path in sorted(files.keys() | described.keys()):
        if files.get(path) != described.get(path):
            sys.exit(f"{path}: {files.get(path)} in the wheel, {described.get(path)} in the manifest")
    print("globoff\npath-as-is\ncreate-dirs\nfail\nsilent\nshow-error")
    for asset in assets:
        quoted = asset["path"].replace("\\", "\\\\").replace('"', '\\"')
        print(f'url = "{server}{asset["url"]}"\noutput = "{quoted}"')


def make(folder, count, seed, changed, largest=40_000):
    """Writes a bundle of `count` files of 2 kB to 40 kB, or another largest, the same bytes for the same seed. With
    `changed`, replaces that many files of one that stands, evenly spread, each by other bytes of the same length."""
    count, changed, largest = int(count), int(changed), int(largest)
    for number in range(count):
        if changed and number % (count // changed):
            continue
        kind = ("js", "css", "html", "png", "json")[number % 5]
        path = os.path.join(folder, f"d{number // 100:03}", f"f{number:05}.{kind}") if number else f"{folder}/index.html"
        size = random.Random(f"size {number}").randrange(largest // 20, largest + 1)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if changed:
            os.remove(path)  # It may be a hard link to the other version's.
        with open(path, "wb") as file:
            file.write(random.Random(f"{seed} {number}").randbytes(size))


def unstamp(*files):
    """Takes the release stamp out of pages, which the device puts into each HTML document."""
    for name in files:
        with open(name, "rb") as file:
            data = file.read()
        plain = re.sub(rb'<script data-patchline="[0-9a-f]{32}".*?</script>', b"", data, count=1, flags=re.DOTALL)
        if plain != data:
            with open(name, "wb") as file:
                file.write(plain)


if __name__ == "__main__":
    {"unpack": unpack, "fetch": fetch, "make": make, "unstamp": unstamp}[sys.argv[1]](*sys.argv[2:])
