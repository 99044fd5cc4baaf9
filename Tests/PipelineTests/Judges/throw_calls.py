"""Throws made-up calls at a running `patchsync run` with two stores, and looks at the other store all the while.

usage: throw_calls.py SETTINGS SOCKET SHOP_URL TILL_URL COUNT [SECONDS [SEED]]

The stores are `shop`, which everything is thrown at, and `till`, which must not notice. SHOP_URL and TILL_URL are the files of
`url-file`. Page calls, requests at the socket and settings are made from a seed that is printed; with SECONDS it goes on with
the next seeds for so long. Exits with 1, and says which seed it was, once the process or the other store does not answer.
"""

import collections
import json
import random
import socket
import sys
import time
import urllib.parse

SETTINGS, SOCKET, SHOP, TILL = sys.argv[1:5]
COUNT = int(sys.argv[5])
SECONDS = float(sys.argv[6]) if len(sys.argv) > 6 else 0
SEED = int(sys.argv[7]) if len(sys.argv) > 7 else 1

ODD_NUMBERS = [0, -1, 1, 2**31 - 1, 2**31, 2**53 - 1, 2**53, 2**63 - 1, 2**63, -(2**63), 10**40, 0.5, 1e308]
ODD_TEXTS = ["", "x", "../..", "a\u0000b", "\ud83d\ude00", "e\u0301", "\u00e9", "%00", "/", "-1", "9" * 40, "2026-13-45T99:99:99Z",
             "99999999999d", "null", "'", '"', "\n", "\u202e", "a" * 5_000, "http://[::1", "http://127.0.0.1:1/", "1h", "mon-sun 00:00-24:00"]
PAGE_CALLS = ["launch.js", "page.js", "page", "scripts/fix.js", "scripts.json", "status", "parameters", "report", "language.js",
              "confirm", "check", "switch", "script-failed", "page-error", "shown", "enter", "uploads", "uploads/list", "nothing", ""]
FALLBACK = [("GET", "/v1"), ("GET", "/v1/stores"), ("GET", "/v1/stores/{store}"), ("POST", "/v1/stores/{store}/sync")]


# How often, at the socket or not, each status came.
answered = collections.Counter()


class Gone(Exception):
    """The process does not answer."""


def value(rng, names, depth=0):
    kind = rng.randrange(8 if depth < 3 else 5)
    if kind == 0: return rng.choice(ODD_NUMBERS)
    if kind in (1, 2): return rng.choice(ODD_TEXTS + names)
    if kind == 3: return rng.choice([None, True, False])
    if kind == 4: return rng.choice(ODD_NUMBERS[:4])
    if kind == 5: return [value(rng, names, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(names + ODD_TEXTS[:3]): value(rng, names, depth + 1) for _ in range(rng.randrange(5))}


def report(rng):
    """What a page says of a script that failed, nearly as it should be."""
    body = {"patchId": "fix", "version": "1", "fault": rng.choice(["threw", "unloaded"]), "message": rng.choice(ODD_TEXTS + ["boom"]),
            "line": rng.choice([0, 1, 2**31 - 1]), "column": 1}
    for _ in range(rng.randrange(3)):
        body[rng.choice(list(body) + ["launch"])] = value(rng, ["fix", "tip", "web"], 3)
    return body


def body(rng, call, names):
    text = json.dumps(report(rng) if "script-failed" in call and rng.random() < 0.8 else value(rng, names, 0)).encode()
    fate = rng.randrange(10)
    if fate == 0: return text[: rng.randrange(len(text) + 1)]
    if fate == 1: return bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
    if fate == 2: return text.replace(b"}", b',"version":"2","version":"3"}', 1)
    if fate == 3: return b"[" * 3_000
    return text


def ask(family, address, method, target, headers, data, patience):
    """The status of an answer; 0 where none came, None in a network that you trust."""
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(patience)
        try: connection.connect(address)
        except OSError: return None, b""
        head = [f"{method} {target} HTTP/1.1"] + [f"{name}: {text}" for name, text in headers] + [f"Content-Length: {len(data)}"]
        answer = b""
        try:
            connection.sendall("\r\n".join(head + ["Connection: close", "", ""]).encode("utf-8", "surrogatepass") + data)
            while len(answer) < 4_000_000:
                piece = connection.recv(65_536)
                if not piece: break
                answer += piece
        except OSError: pass
        words = answer.split(b" ", 2)
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        answered[family == socket.AF_UNIX, status] += 1
        return status, answer


class Store:
    """The pages of a store, opened by the URL in its file."""

    def __init__(self, file):
        self.file, self.url, self.cookie = file, None, ""

    def open(self):
        try:
            with open(self.file) as lines: url = lines.read().strip()
        except OSError: return False
        if url != self.url:
            parts = urllib.parse.urlsplit(url)
            status, answer = ask(socket.AF_INET, ("127.0.0.1", parts.port), "GET", f"/__patchline/status?{parts.query}",
                                 [("Host", parts.netloc)], b"", 10)
            if status != 200: return False
            cookies = [line for line in answer.split(b"\r\n") if line.lower().startswith(b"set-cookie:")]
            self.cookie = cookies[0].split(b":", 1)[1].split(b";")[0].strip().decode() if cookies else ""
            self.url, self.parts = url, parts
        return True

    def ask(self, method, target, headers, data, patience):
        return ask(socket.AF_INET, ("127.0.0.1", self.parts.port), method, target,
                   [("Host", self.parts.netloc), ("Cookie", self.cookie)] + headers, data, patience)


def control(method, target, headers, data, patience=1):
    return ask(socket.AF_UNIX, SOCKET, method, target, [("Host", "localhost")] + headers, data, patience)


def routes():
    """Those that the process describes, and the names that stand in their schemas."""
    _, answer = control("GET", "/v1/openapi.json", [], b"", 30)
    try: document = json.loads(answer.split(b"\r\n\r\n", 1)[1])
    except (IndexError, ValueError): return FALLBACK, ["facts", "keep"]
    names = set()

    def collect(part):
        if isinstance(part, dict):
            names.update(part.get("properties", {}))
            for inner in part.values(): collect(inner)
        elif isinstance(part, list):
            for inner in part: collect(inner)

    collect(document)
    return [(method.upper(), path) for path, methods in document["paths"].items() for method in methods
            if "events" not in path], sorted(names)


def throw_page(rng, shop, names):
    if not shop.open(): return
    call = rng.choice(PAGE_CALLS + ["script-failed"] * 8)
    method = rng.choice(["GET", "POST", "POST", "PUT", "HEAD", "DELETE"])
    query = rng.choice(["", "", "?launch=" + "0" * 32, "?page=" + "0" * 32, "?page=x", "?after=99999999999999999999", "?sha256=x", "?launch=", "?%"])
    headers = [("Content-Type", rng.choice(["application/json", "text/plain", ""]))]
    if rng.random() < 0.5: headers.append(("X-Patchline-Switch", "1"))
    if rng.random() < 0.2: headers.append(("Range", rng.choice(["bytes=0-", "bytes=9223372036854775807-", "bytes=-9223372036854775808", "x"])))
    if rng.random() < 0.2: headers.append(("If-Modified-Since", rng.choice(ODD_TEXTS[:2] + ["Fri, 31 Dec 9999 23:59:59 GMT"]).strip()))
    shop.ask(method, f"/__patchline/{call}{query}", headers, body(rng, call, names), 1)


def throw_control(rng, known, names):
    method, path = rng.choice(known)
    if rng.random() < 0.1: method = rng.choice(["GET", "POST", "PATCH", "PUT", "DELETE"])
    path = path.replace("{store}", rng.choice(["shop"] * 8 + ["nobody", "%00", "..", "%C3"]))
    path = path.split("{")[0] + ("" if "{" not in path else urllib.parse.quote(rng.choice(ODD_TEXTS[:16])))
    headers = [("Content-Type", rng.choice(["application/json", "application/merge-patch+json", "text/plain"]))]
    if rng.random() < 0.3: headers.append(("Prefer", "respond-async"))
    if rng.random() < 0.1: headers.append(("Last-Event-ID", rng.choice(ODD_TEXTS[:2] + ["s-99999999999999999999"])))
    control(method, path, headers, body(rng, path, names))


def throw_settings(rng, text):
    """Other settings of the one store, then the first ones again: the process reads either, or neither."""
    lines = text.rstrip("\n").split("\n")
    keys = ["sync-every", "port", "startup-timeout", "proxy", "bundle", "serve", "channel", "uploads", "startup-timer", "nothing"]
    odd = f"{rng.choice(keys)}: {json.dumps(value(rng, keys, 2))}"
    sound = rng.choice(["sync-every: 1s", "sync-every: 31536000s", "startup-timer: launch", "serve: false",
                        "proxy: ['/api/.*=http://127.0.0.1:1']", "bundle: nobody", "channel: beta", "proxies: /nowhere"])
    made = rng.choice([
        "\n".join(lines + ["    " + sound]), "\n".join(lines + ["    " + sound]),
        "\n".join(lines + ["    " + odd]), text + rng.choice(ODD_TEXTS), text + "\0", text + "&a [*a]\n", "",
        "\n".join(lines + [f"  {rng.choice(ODD_TEXTS)!r}: {{}}"]),
    ])
    for contents in (made, text):
        with open(SETTINGS, "w", encoding="utf-8", errors="surrogatepass") as file: file.write(contents)
        # The process waits a tenth of a second, for whoever writes into the file itself empties it first.
        time.sleep(0.2)


def check(till, seed, step, first):
    where = f"seed {seed}, step {step}"
    status, answer = control("GET", "/v1/stores/till", [], b"", 60)
    if status != 200: raise Gone(f"{where}: the socket answers {status}")
    if not till.open(): raise Gone(f"{where}: the other store's page is gone")
    status, answer = till.ask("GET", "/", [], b"", 60)
    page = answer.split(b"\r\n\r\n", 1)[-1]
    if status != 200 or first is not None and page != first: raise Gone(f"{where}: the other store's page is {status}")
    return page


def main():
    with open(SETTINGS) as file: text = file.read()
    shop, till = Store(SHOP), Store(TILL)
    known, names = routes()
    end = time.monotonic() + SECONDS
    seed, page, url = SEED, check(till, SEED, 0, None), None
    url = till.url
    while True:
        rng = random.Random(seed)
        for step in range(COUNT):
            kind = rng.randrange(40)
            if kind == 0: throw_settings(rng, text)
            elif kind < 18: throw_control(rng, known, names)
            else: throw_page(rng, shop, names)
            if step % 20 == 19: check(till, seed, step, page)
        check(till, seed, COUNT, page)
        if till.url != url: raise Gone(f"seed {seed}: the other store was started again")
        if time.monotonic() >= end: break
        seed += 1
    for isSocket, place in ((False, "pages"), (True, "the socket")):
        print(f"{place}:", ", ".join(f"{status} {count} times" for (where, status), count in sorted(answered.items()) if where == isSocket))
    print(f"seeds {SEED} to {seed}: the process lives, and the other store did not notice")


try: main()
except Gone as gone:
    print(gone)
    sys.exit(1)
