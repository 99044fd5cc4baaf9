"""A server behind the API proxy that shows what reached it.

usage: upstream.py

Prints `listening on URL`. Paths end in what is wanted, whatever stands before:
  echo           what came, as JSON      sink     the size and SHA-256 of the body
  status/NNN     that status             events   one event, and a second once the path `go` was asked for
  cookies        Set-Cookie              redirect Location with this server's own URL
  never          no answer               cut      half of a body
  ws             a WebSocket that says its handshake's fields first and then echoes
"""
import base64, hashlib, http.server, json, struct, threading

go = threading.Event()


class Upstream(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def body(self):
        """Pieces of it, whatever its framing."""
        if self.headers.get('Transfer-Encoding') == 'chunked':
            while size := int(self.rfile.readline().split(b';')[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        left = int(self.headers.get('Content-Length') or 0)
        while left:
            piece = self.rfile.read(min(left, 65536))
            left -= len(piece)
            yield piece

    def reply(self, status, body, *fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def answer(self):
        wanted = self.path.split('?')[0].rstrip('/').split('/')
        if self.headers.get('Upgrade') == 'websocket':
            return self.websocket()
        digest, size = hashlib.sha256(), 0
        for piece in self.body():
            digest.update(piece)
            size += len(piece)
        origin = f'http://127.0.0.1:{self.server.server_address[1]}'
        if wanted[-1] == 'echo':
            what = {'method': self.command, 'target': self.path, 'fields': self.headers.items(), 'size': size}
            self.reply(200, json.dumps(what).encode(), ('Content-Type', 'application/json'))
        elif wanted[-1] == 'sink':
            self.reply(200, f'{size} {digest.hexdigest()}'.encode())
        elif wanted[-2] == 'status':
            self.reply(int(wanted[-1]), b'as it is', ('X-Reason', 'yes'), ('Connection', 'X-Hop'), ('X-Hop', '1'))
        elif wanted[-1] == 'cookies':
            self.reply(200, b'', ('Set-Cookie', 'session=1; Domain=127.0.0.1; Path=/; Secure; HttpOnly; SameSite=None'),
                       ('Set-Cookie', 'cdvToken_1=stolen; Path=/'), ('Set-Cookie', '__Host-id=2; Path=/; Secure'))
        elif wanted[-1] == 'redirect':
            self.reply(302, b'', ('Location', f'{origin}/api/echo?next=1#there'))
        elif wanted[-1] == 'go':
            go.set()
            self.reply(204, b'')
        elif wanted[-1] == 'events':
            self.send_response(200)
            self.send_header('Content-Type', 'text/event-stream')
            self.end_headers()
            self.wfile.write(b'data: one\n\n')
            go.wait(300)
            self.wfile.write(b'data: two\n\n')
            self.close_connection = True
        elif wanted[-1] == 'cut':
            self.send_response(200)
            self.send_header('Content-Length', '100')
            self.end_headers()
            self.wfile.write(b'half')
            self.close_connection = True
        elif wanted[-1] == 'never':
            go.wait(300)
            self.close_connection = True
        else:
            self.reply(404, b'no such path\n')

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def websocket(self):
        if not self.path.endswith('/ws'):
            return self.reply(403, b'no socket here')
        key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        self.send_response(101)
        self.send_header('Upgrade', 'websocket')
        self.send_header('Connection', 'Upgrade')
        self.send_header('Sec-WebSocket-Accept', base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.frame(json.dumps(self.headers.items()).encode())
        while True:
            first, second = self.rfile.read(2)
            size = second & 127
            if size == 126:
                size = struct.unpack('>H', self.rfile.read(2))[0]
            elif size == 127:
                size = struct.unpack('>Q', self.rfile.read(8))[0]
            mask = self.rfile.read(4)
            data = self.rfile.read(size)
            if first & 15 == 8:
                break
            self.frame(bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))
        self.close_connection = True

    def frame(self, data):
        size = bytes([len(data)]) if len(data) < 126 else b'\x7e' + struct.pack('>H', len(data)) if len(data) < 65536 \
            else b'\x7f' + struct.pack('>Q', len(data))
        self.wfile.write(b'\x81' + size + data)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(('127.0.0.1', 0), Upstream)
print(f'listening on http://127.0.0.1:{server.server_address[1]}', flush=True)
server.serve_forever()
