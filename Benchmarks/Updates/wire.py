"""A TCP proxy that counts: the bytes of both directions, connections, and for HTTP each request with what it cost."""

import re, socket, threading, time

CLASSES = ("metadata", "list", "manifest", "signatures", "objects", "packs", "other")


def kind_of(path):
    """What a request asks for, told from its path: /APP/metadata/…, /APP/targets/…, /APP/objects/…, /APP/packs/…"""
    parts = path.partition("?")[0].split("/")
    folder, name = (parts[2] if len(parts) > 3 else ""), parts[-1]
    if folder in ("metadata", "objects", "packs"):
        return folder
    if ".manifest." in name:
        return "signatures" if "sig" in name.partition(".manifest.")[2] else "manifest"
    return "list" if ".patchlist." in name else "signatures" if "sig" in name else "other"


class Messages:
    """Cuts one direction of an HTTP/1.1 connection into messages, and counts each one's bytes as they pass."""

    def __init__(self, begin, body_of, count):
        self.begin, self.body_of, self.count = begin, body_of, count
        self.pending, self.left, self.chunked, self.row = b"", 0, False, None

    def feed(self, data):
        while data:
            if self.left:
                part = data if self.left < 0 else data[: self.left]
                self.count(self.row, len(part))
                data = data[len(part) :]
                if self.left > 0:
                    self.left -= len(part)
                continue
            seen = len(self.pending)
            self.pending += data
            mark = b"\r\n" if self.chunked else b"\r\n\r\n"
            end = self.pending.find(mark)
            if end < 0:
                return
            end += len(mark)
            head, self.pending, data = self.pending[:end], b"", data[end - seen :]
            if self.chunked:
                self.count(self.row, len(head))
                if self.chunked == "last":
                    self.chunked = False
                    continue
                size = int(head.split(b";")[0], 16)
                self.left, self.chunked = (size + 2, True) if size else (0, "last")
                continue
            self.row = self.begin(head)
            self.count(self.row, len(head))
            self.left, self.chunked = self.body_of(self.row, head)


def length_of(head):
    if re.search(rb"(?im)^transfer-encoding:.*chunked", head):
        return 0, True
    found = re.search(rb"(?im)^content-length: *(\d+)", head)
    return (int(found[1]) if found else None), False


class Connection:
    def __init__(self, wire, client):
        self.wire, self.client, self.waiting, self.answered = wire, client, [], 0
        self.server = socket.create_connection(wire.upstream)
        self.up = Messages(self.asked, lambda row, head: (length_of(head)[0] or 0, length_of(head)[1]), self.counted("up"))
        self.down = Messages(self.answer, self.body_of, self.counted("down"))
        for end in (self.client, self.server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threads = [threading.Thread(target=self.pump, args=way, daemon=True) for way in (
            (self.client, self.server, self.up, "up"), (self.server, self.client, self.down, "down"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.client.close(), self.server.close()

    def counted(self, way):
        def count(row, size):
            row[way] += size
        return count

    def asked(self, head):
        method, path = head.split(b" ", 2)[:2]
        row = {"method": method.decode(), "path": path.decode(), "up": 0, "down": 0, "status": 0, "coding": ""}
        self.wire.rows.append(row)
        self.waiting.append(row)
        return row

    def answer(self, head):
        row = self.waiting[self.answered]
        row["status"] = int(head.split(b" ", 2)[1])
        coding = re.search(rb"(?im)^content-encoding: *(\S+)", head)
        row["coding"] = coding[1].decode() if coding else ""
        if row["status"] >= 200:
            self.answered += 1
        return row

    def body_of(self, row, head):
        if row["method"] == "HEAD" or row["status"] in (204, 304) or row["status"] < 200:
            return 0, False
        length, chunked = length_of(head)
        return (-1 if length is None and not chunked else length or 0), chunked

    def pump(self, source, sink, messages, way):
        try:
            while data := source.recv(1 << 18):
                with self.wire.lock:
                    self.wire.bytes[way] += len(data)
                    if self.wire.http:
                        messages.feed(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            # One end is gone without a word; nobody waits at the other then.
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


class Wire:
    """Listens on a free port, or on a socket that was made elsewhere, and hands everything on to one server."""

    def __init__(self, upstream, http=True, listener=None):
        self.upstream, self.http, self.lock = ("127.0.0.1", upstream), http, threading.Lock()
        self.listener = listener or socket.create_server(("127.0.0.1", 0), backlog=256)
        self.host, self.port = self.listener.getsockname()[:2]
        self.open, self.idle = 0, threading.Condition()
        self.clear()
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def clear(self):
        self.rows, self.bytes, self.connections = [], {"up": 0, "down": 0}, 0

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.idle:
                self.open += 1
                self.connections += 1
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        try:
            Connection(self, client)
        finally:
            with self.idle:
                self.open -= 1
                self.idle.notify_all()

    def take(self):
        """What travelled since the last time, once every connection is closed."""
        with self.idle:
            if not self.idle.wait_for(lambda: self.open == 0, timeout=30):
                raise SystemExit("a connection stayed open after its client was gone")
        result = {"bytes": sum(self.bytes.values()), "up": self.bytes["up"], "down": self.bytes["down"],
                  "connections": self.connections, "requests": len(self.rows)}
        if self.http:
            result["classes"] = {kind: 0 for kind in CLASSES}
            result["codings"] = {}
            for row in self.rows:
                result["classes"][kind_of(row["path"])] += row["up"] + row["down"]
                coding = row["coding"] or "plain"
                result["codings"][coding] = result["codings"].get(coding, 0) + row["down"]
            if sum(result["classes"].values()) != result["bytes"]:
                raise SystemExit(f"the requests make {sum(result['classes'].values())} bytes, and {result['bytes']} travelled")
            result["asked"] = [[row["path"], row["status"], row["coding"], row["up"], row["down"]] for row in self.rows]
        self.clear()
        return result
