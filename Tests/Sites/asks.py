"""What is asked of both hosts, and how their answers are compared."""
import base64, hashlib, http.client, json, os, re, subprocess, urllib.parse
from collections import namedtuple

Ask = namedtuple("Ask", "label method path fields", defaults=({},))
Difference = namedtuple("Difference", "label method path fields part got expected")
NAVIGATION = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none", "Accept": "text/html,*/*;q=0.8"}
# One tag of the device in each HTML document: see decisions.py, "stamp".
STAMP = re.compile(rb'<script data-patchline="[0-9a-f]{32}" data-version="[^"]*">.*?</script>', re.S)


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def field(self, name):
        return self.fields.get(name.lower())


class Decoder:
    """Node decodes all codings of the web."""
    PROGRAM = """
    const z = require('zlib'), by = {gzip: z.gunzipSync, br: z.brotliDecompressSync, zstd: z.zstdDecompressSync, deflate: z.inflateSync};
    require('readline').createInterface({input: process.stdin}).on('line', line => {
      const [coding, body] = line.split(' ');
      try { console.log(by[coding](Buffer.from(body, 'base64')).toString('base64')) } catch (error) { console.log('!' + error) } })"""

    def __init__(self):
        self.node, self.known = None, {}

    def decode(self, coding, body):
        if coding in (None, "identity"):
            return body
        key = (coding, hashlib.sha256(body).digest())
        if key not in self.known:
            if coding == "zstd":
                self.known[key] = subprocess.run(["zstd", "-dcq"], input=body, capture_output=True, check=True).stdout
            else:
                if self.node is None:
                    self.node = subprocess.Popen(["node", "-e", self.PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                self.node.stdin.write(f"{coding} {base64.b64encode(body).decode()}\n")
                self.node.stdin.flush()
                line = self.node.stdout.readline().strip()
                self.known[key] = None if line.startswith("!") or not line and body else base64.b64decode(line)
        return self.known[key]

    def end(self):
        if self.node:
            self.node.stdin.close()
            self.node.wait()


class Host:
    """One connection that is kept."""

    def __init__(self, url, cookie=None):
        parts = urllib.parse.urlsplit(url)
        self.origin, self.port, self.cookie = f"{parts.scheme}://{parts.netloc}", parts.port, cookie
        self.name = parts.netloc
        self.connection = None

    def ask(self, ask):
        for again in (True, False):
            try:
                if self.connection is None:
                    # NAME.localhost is this machine, also where the system does not resolve it.
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                self.connection.putrequest(ask.method, ask.path, skip_host=True, skip_accept_encoding=True)
                for name, value in {"Host": self.name, **({"Cookie": self.cookie} if self.cookie else {}), **ask.fields}.items():
                    self.connection.putheader(name, value)
                self.connection.endheaders()
                answer = self.connection.getresponse()
                body = answer.read()
                return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)
            except (http.client.HTTPException, OSError):
                self.connection.close()
                self.connection = None
                if not again:
                    raise


def enter(url):
    """A host with the cookie that the first URL of `patchsync serve` turns into."""
    host = Host(url)
    parts = urllib.parse.urlsplit(url)
    answer = host.ask(Ask("", "GET", f"/__patchline/status?{parts.query}"))
    if answer.field("set-cookie") is None:
        raise AssertionError(f"no cookie: {answer.status}")
    host.cookie = answer.field("set-cookie").split(";")[0]
    return host


def quoted(name):
    return "/" + urllib.parse.quote(name)


def asks_for(files, kind):
    """Every file and folder of a site, names without extension, and what does not exist."""
    folders = sorted({name.rsplit("/", n + 1)[0] for name in files for n in range(name.count("/"))})
    indexes = {name.removesuffix("index.html") for name in files if name == "index.html" or name.endswith("/index.html")}
    for name in files:
        path, page = quoted(name), NAVIGATION if name.endswith((".html", ".htm")) else {}
        yield Ask("file", "GET", path, page)
        yield Ask("file, gzip", "GET", path, {**page, "Accept-Encoding": "gzip"})
        yield Ask("file, all codings", "GET", path, {**page, "Accept-Encoding": "gzip, deflate, br, zstd"})
        yield Ask("HEAD", "HEAD", path, page)
        yield Ask("range", "GET", path, {**page, "Range": "bytes=2-9"})
        yield Ask("last bytes", "GET", path, {**page, "Range": "bytes=-5"})
        yield Ask("file with a query", "GET", path + "?v=2", page)
        yield Ask("file/", "GET", path + "/", page)
        if name.endswith(".html"):
            yield Ask("name for name.html", "GET", path.removesuffix(".html"), NAVIGATION)
            yield Ask("name/ for name.html", "GET", path.removesuffix(".html") + "/", NAVIGATION)
    for folder in folders:
        has = folder + "/" in indexes
        for slash in ("/", ""):
            yield Ask(f"folder{slash} {'with' if has else 'without'} index", "GET", quoted(folder) + slash, NAVIGATION)
        if has:
            yield Ask("folder with index and query", "GET", quoted(folder) + "?a=b%20c", NAVIGATION)
            yield Ask("folder/ with index, HEAD", "HEAD", quoted(folder) + "/", NAVIGATION)
            yield Ask("folder/ with index, fetched", "GET", quoted(folder) + "/", {"Sec-Fetch-Dest": "empty", "Accept": "*/*"})
    yield Ask("home", "GET", "/", NAVIGATION)
    yield Ask("home", "GET", "/?utm=1", NAVIGATION)
    yield Ask("home, HEAD", "HEAD", "/", NAVIGATION)
    missing = ["/no-such-page", "/no/such/page", "/no-such-page/", "/no-such.html", "/no-such.js", "/no-such.css", "/no-such.png", "/no-such.woff2", "/no-such.json",
               "/v1.2.3/page"]
    if folders:
        missing += [quoted(folders[0]) + "/no-such", quoted(folders[0]) + "/no-such.js"]
    for path in missing:
        for destination, accept in [("document", "text/html,*/*;q=0.8"), ("iframe", "text/html,*/*;q=0.8"), ("script", "*/*"), ("style", "text/css,*/*;q=0.1"),
                                    ("image", "image/avif,image/webp,*/*;q=0.8"), ("font", "*/*"), ("worker", "*/*"), ("manifest", "*/*"), ("empty", "*/*"),
                                    ("empty", "application/json"), ("empty", "text/html"), (None, "text/html"), (None, "*/*"), (None, None)]:
            fields = {**({"Sec-Fetch-Dest": destination} if destination else {}), **({"Accept": accept} if accept else {})}
            yield Ask(f"missing {'file' if '.' in path.rsplit('/', 1)[-1] else 'page'} as {destination or 'unsaid'}, {accept or 'no Accept'}", "GET", path, fields)


def media(answer):
    return (answer.field("content-type") or "").split(";")[0].strip().lower()


def text_of(answer, decoder):
    body = decoder.decode(answer.field("content-encoding"), answer.body)
    if body is not None and media(answer) in ("text/html", "application/xhtml+xml"):
        body = STAMP.sub(b"", body)
    return body


def compare(ask, ours, theirs, decoder):
    """Differences of one pair, in parts: status, location, type, coding, body, length, range."""
    def differ(part, got, expected):
        return Difference(ask.label, ask.method, ask.path, ask.fields, part, got, expected)
    if ours.status != theirs.status:
        yield differ("status", ours.status, theirs.status)
        return
    if ours.status == 416:
        return
    if ours.status in (301, 302, 307, 308):
        place = lambda answer: re.sub(r"^https?://[^/]+", "", answer.field("location") or "")
        if place(ours) != place(theirs):
            yield differ("location", place(ours), place(theirs))
        return
    if ours.status in (200, 206) and media(ours) != media(theirs):
        yield differ("type", media(ours), media(theirs))
    coding, wanted = ours.field("content-encoding"), ask.fields.get("Accept-Encoding", "")
    if coding and coding not in re.split(r", *", wanted) and coding != theirs.field("content-encoding"):
        yield differ("coding not asked for", coding, wanted or "none")
    elif coding != theirs.field("content-encoding"):
        yield differ("coding", coding, theirs.field("content-encoding"))
    if ask.method == "HEAD":
        if ours.body:
            yield differ("body of HEAD", len(ours.body), 0)
        return
    if ours.status == 206:
        def span(answer):
            return re.sub(r"/\d+$", "", answer.field("content-range") or "")
        html = media(theirs) == "text/html"
        if not html and ours.field("content-range") != theirs.field("content-range"):
            yield differ("range", ours.field("content-range"), theirs.field("content-range"))
        elif html and "Range" in ask.fields and not ask.fields["Range"].startswith("bytes=-") and span(ours) != span(theirs):
            yield differ("range", span(ours), span(theirs))
        elif coding == theirs.field("content-encoding") and ours.body != theirs.body:
            yield differ("body of a range", repr(ours.body[:40]), repr(theirs.body[:40]))
        return
    one, other = text_of(ours, decoder), text_of(theirs, decoder)
    if one != other:
        yield differ("body of a 404" if ours.status == 404 else "body", brief(one), brief(other))


def brief(body):
    return "not decodable" if body is None else f"{len(body)} bytes: {body[:160]!r}"


def conditions(host, ask, fields):
    """A host's own tag leads to 304 without a body, HEAD tells the length of GET, and a range beyond the end is 416."""
    whole = host.ask(Ask("", "GET", ask, fields))
    tag = whole.field("etag")
    def differ(label, got, expected):
        return Difference(label, "GET", ask, fields, "status", got, expected)
    if tag is None:
        yield differ("tag", None, "an ETag")
    else:
        again = host.ask(Ask("", "GET", ask, {**fields, "If-None-Match": tag}))
        if again.status != 304 or again.body:
            yield differ("same tag", again.status, 304)
    head = host.ask(Ask("", "HEAD", ask, fields))
    if head.field("content-length") != str(len(whole.body)):
        yield Difference("HEAD", "HEAD", ask, fields, "length", head.field("content-length"), len(whole.body))
    beyond = host.ask(Ask("", "GET", ask, {**fields, "Range": f"bytes={len(whole.body) + 10}-"}))
    if beyond.status != 416:
        yield differ("range beyond the end", beyond.status, 416)
    part = host.ask(Ask("", "GET", ask, {**fields, "Range": "bytes=1-4"}))
    if len(whole.body) > 4 and (part.status != 206 or part.body != whole.body[1:5]):
        yield differ("range of the whole", part.status, 206)


def compare_hosts(ours, theirs, files, kind):
    """(number of asks, differences)."""
    decoder, found, count = Decoder(), [], 0
    asks = list(asks_for(files, kind))
    for ask in asks:
        count += 1
        found += compare(ask, ours.ask(ask), theirs.ask(ask), decoder)
    for ask in asks:
        if ask.label == "file":
            count += 5
            found += conditions(ours, ask.path, ask.fields)
    decoder.end()
    return count, found
