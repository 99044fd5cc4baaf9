"""A server of a published tree that can be told to do wrong.

usage: hostile.py TREE CONTROL

CONTROL is a file with `MODE PART`, read at each request: answers to paths with PART in them, or one of PART|PART, are wrong in
the way of MODE, which may have numbers: `hold:4096:1`. It serves packs, as they are.
Anything else in it, or no such file, and it is an honest server. What a device asks beside is answered with the bytes of the
file CONTROL.answer, while there is one. Prints `listening on URL`, then each path asked for.
"""
import glob, gzip, http.server, json, os, sys, threading

tree, control = sys.argv[1:]
counting = threading.Lock()
sent = {}


class Hostile(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def head(self, status, length):
        self.send_response(status)
        if length is None:
            self.send_header('Transfer-Encoding', 'chunked')
        else:
            self.send_header('Content-Length', str(length))
        self.end_headers()

    def do_GET(self):
        print(self.path, flush=True)
        try:
            mode, part = open(control).read().split()
        except (OSError, ValueError):
            mode, part = 'honest', ''
        path = tree + os.path.normpath('/' + self.path.split('?')[0])
        self.pack = None
        if mode != 'honest' and not any(one in self.path for one in part.split('|')):
            mode = 'honest'
        if '/packs/' in self.path and mode not in ('000', '404', '500', 'redirect', 'portal', 'portal302', 'portal511', 'portal407'):
            app, _, digest, _ = self.path[1:].split('/')
            path, = glob.glob(f'{tree}/{app}/targets/*/*/*/{digest}.manifest.json')
            self.pack = f'{tree}/{app}/objects'
        if not os.path.isfile(path) and mode not in ('000', '500', 'redirect', 'portal', 'portal302', 'portal511', 'portal407'):
            mode = '404'
        mode, *arguments = mode.split(':')
        try:
            getattr(self, 'answer_' + mode)(path, *map(int, arguments))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def do_POST(self):
        self.pack = None
        print(self.path, self.rfile.read(int(self.headers['Content-Length'])).decode(), flush=True)
        if os.path.isfile(control + '.answer'):
            self.whole(self.body(control + '.answer'))
        else:
            self.head(404, 0)

    def body(self, path):
        if not self.pack:
            return self.body_of(path)
        digests = [row['sha256'] for row in json.loads(self.body_of(path))['assets']]
        return b''.join(self.body_of(f'{self.pack}/{digest[:2]}/{digest}') for digest in digests)

    def body_of(self, path):
        with open(path, 'rb') as file:
            return file.read()

    def whole(self, data):
        self.head(200, len(data))
        self.wfile.write(data)

    def answer_honest(self, path):
        self.whole(self.body(path))

    def answer_404(self, path):
        self.head(404, 0)

    def answer_500(self, path):
        self.head(500, 0)

    def answer_000(self, path):
        # What no HTTP status can be.
        self.wfile.write(b'HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n')

    def answer_redirect(self, path):
        self.send_response(302)
        self.send_header('Location', 'http://127.0.0.1:9/')
        self.send_header('Content-Length', '0')
        self.end_headers()

    def answer_portal(self, path):
        """A captive portal: a page to sign in, whatever was asked for."""
        data = b'<!doctype html><title>Welcome to our Wi-Fi</title><form action="http://portal.example/login"></form>'
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer_portal302(self, path):
        """The usual captive portal: it leads to its page of login, on a host of its own."""
        self.send_response(302)
        self.send_header('Location', 'http://portal.example/login?from=here')
        self.send_header('Content-Length', '0')
        self.end_headers()

    def answer_portal511(self, path):
        self.head(511, 0)

    def answer_portal407(self, path):
        self.head(407, 0)

    def proxied(self, data, *fields):
        """As a proxy on the way hands an answer on: in pieces, without a tag, with fields of its own."""
        self.send_response(200)
        for name, value in (('Via', '1.1 gateway'), ('Age', '12'), ('Transfer-Encoding', 'chunked'), *fields):
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(data), 1000):
            piece = data[start:start + 1000]
            self.wfile.write(b'%x\r\n%s\r\n' % (len(piece), piece))
        self.wfile.write(b'0\r\n\r\n')

    def answer_proxied(self, path):
        self.proxied(self.body(path))

    def answer_injected(self, path):
        """A transparent proxy that puts a script of its own into every page."""
        data = self.body(path)
        self.proxied(data.replace(b'<title>', b'<script src="//ads.example/x.js"></script><title>'))

    def answer_zipped(self, path):
        """A transparent proxy that compresses what nobody asked it to."""
        self.proxied(gzip.compress(self.body(path)), ('Content-Encoding', 'gzip'))

    def answer_truncated(self, path):
        """Says that half of it is all."""
        data = self.body(path)
        self.whole(data[:len(data) // 2])

    def answer_short(self, path):
        """Promises all of it and hangs up after half."""
        data = self.body(path)
        self.head(200, len(data))
        self.wfile.write(data[:len(data) // 2])
        self.close_connection = True

    def answer_hold(self, path, after, turn):
        """Sends AFTER bytes over all its answers of this TURN, then no more; says `held` at each that waits."""
        data = self.body(path)
        self.head(200, len(data))
        with counting:
            share = max(0, min(len(data), after - sent.get(turn, 0)))
            sent[turn] = sent.get(turn, 0) + share
        self.wfile.write(data[:share])
        if share < len(data):
            self.wfile.flush()
            print('held in turn %d;' % turn, flush=True)
            self.rfile.read(1)
            self.close_connection = True

    def answer_longer(self, path):
        self.whole(self.body(path) + b'\n')

    def answer_silent(self, path):
        """Takes the request and never answers."""
        while self.connection.recv(1):
            pass
        self.close_connection = True

    def answer_oversized(self, path):
        """A length far over any limit, with bytes to match as long as anybody reads."""
        self.head(200, 1 << 40)
        self.close_connection = True
        while True:
            self.wfile.write(b' ' * 65536)

    def answer_endless(self, path):
        """The bytes, then more for ever, without a length."""
        self.head(200, None)
        self.close_connection = True
        data = self.body(path)
        while True:
            self.wfile.write(b'%x\r\n%s\r\n' % (len(data), data))
            data = b' ' * 65536

    def answer_flipped(self, path):
        """One bit of a role's signature, or of the middle of any other file."""
        data = bytearray(self.body(path))
        if '/metadata/' in path:
            digit = data.index(b'"sig":"') + 27
            data[digit:digit + 1] = b'%x' % (int(data[digit:digit + 1], 16) ^ 1)
        else:
            data[len(data) // 2] ^= 1
        self.whole(data)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hostile)
server.daemon_threads = True
print('listening on http://127.0.0.1:%d' % server.server_port, flush=True)
server.serve_forever()
