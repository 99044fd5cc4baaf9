"""What a device's state costs: makes a store whose selections hold PATCHES versions each, of which KEPT were confirmed before
the present one, and measures `patchsync status` and a launch (`patchsync serve`, until it says what it serves).

usage: state.py BIN_DIR [PATCHES [KEPT]]     BIN_DIR holds patchsign and patchsync; 10,000 and 10 where nothing is said

The versions are made up and their files are missing: read, told and chosen is what there would be; nothing is hashed.
"""

import base64, hashlib, json, os, resource, signal, subprocess, sys, tempfile, time

binaries = sys.argv[1]
patches = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
kept = int(sys.argv[3]) if len(sys.argv) > 3 else 10


def run(program, *arguments):
    began = time.perf_counter()
    process = subprocess.Popen([f"{binaries}/{program}", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    return output, time.perf_counter() - began, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def entry(number, version):
    made = f"patch-{number:05} {version}".encode()
    sha256 = hashlib.sha256(made).hexdigest()
    return {
        "patchId": f"patch-{number:05}", "kind": "script", "version": str(version),
        "url": f"objects/{sha256[:2]}/{sha256}", "size": len(made), "md5": hashlib.md5(made).hexdigest(),
        "sha1": hashlib.sha1(made).hexdigest(), "sha256": sha256,
        "signature": {
            "keyid": hashlib.sha256(b"key").hexdigest(), "scheme": "rsa-pkcs1v15-sha256",
            "sig": base64.b64encode(hashlib.sha512(made).digest() * 6).decode(),
        },
    }


with tempfile.TemporaryDirectory() as work:
    keys, store = f"{work}/keys", f"{work}/store"
    for arguments in (
        ("patchsign", "init", "--app", "com.example.state", "--keys", keys, "--unencrypted-keys", "--bits", "2048"),
        ("patchsync", "init", "--store", store, "--root", f"{keys}/root.json", "--server", "http://127.0.0.1:1"),
    ):
        code = run(*arguments)[3]
        if code:
            sys.exit(f"{' '.join(arguments)} ended with {code}")
    channel = f"{store}/channels/production"
    os.makedirs(f"{channel}/selections", mode=0o700)

    def selection(version):
        # As a release changes it: one in ten patches is new.
        rows = [entry(number, version if number % 10 == version % 10 else version - version % 10) for number in range(patches)]
        document = {"format": "patchline-selection-v1", "patches": rows, "x-patchline-entry-keys": {}}
        text = json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"
        name = hashlib.sha256(text).hexdigest()
        with open(f"{channel}/selections/{name}.json", "wb") as file:
            file.write(text)
        return {"number": version, "roleVersion": version, "selection": name}, len(text)

    made = [selection(version) for version in range(kept + 1, 0, -1)]
    state = {
        "format": "patchline-state-v2", "lastSelection": kept + 1, "blocks": [],
        "state": {"is": "settled", "selection": made[0][0]}, "previous": made[1][0],
        "earlier": [reference for reference, _ in made[2:]],
    }
    with open(f"{channel}/state.json", "w") as file:
        json.dump(state, file)
    print(f"state.json {os.path.getsize(f'{channel}/state.json')} bytes; a selection of {patches} patches {made[0][1]} bytes")

    output, seconds, peak, code = run("patchsync", "status", "--store", store, "--json")
    rows = len(json.loads(output)["patches"]) if code == 0 else f"code {code}"
    print(f"patchsync status: {rows} patches, {seconds:.2f} s, {peak:.0f} MB")

    began = time.perf_counter()
    process = subprocess.Popen(
        [f"{binaries}/patchsync", "serve", "--store", store, "--port", "0", "--no-sync", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    for line in process.stdout:
        if json.loads(line)["event"] == "serving":
            break
    seconds = time.perf_counter() - began
    with open(f"/proc/{process.pid}/status") as status:
        peak = int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024
    print(f"a launch: {seconds:.2f} s, {peak:.0f} MB")
    process.send_signal(signal.SIGINT)
    process.wait()
