"""A server of another user of this machine, which keeps what browsers bring along.

usage: neighbour.py

Listens on a port of 127.0.0.1 and on the same one of [::1], and prints `listening on URL`. `/seen` tells who was asked for what
so far, a line each: HOST METHOD TARGET and, where there is one, the Cookie. Everything else is a page that asks its own port for
more in every way that pages have, and at the end sets `done`.
"""
import http.server, socket, threading

PAGE = b"""<!doctype html><title>hello</title><img src=/image><link rel=stylesheet href=/style.css>
<iframe name=inner></iframe><form method=post action=/form target=inner></form><script>
  (async () => {
    document.forms[0].submit();
    navigator.sendBeacon('/beacon', 'x');
    await new Promise(over => { const ears = new EventSource('/events'); ears.onerror = () => { ears.close(); over(); }; });
    await new Promise(over => { new WebSocket(location.href.replace('http', 'ws')).onerror = over; });
    await fetch('/fetch', { credentials: 'include' });
    window.done = true;
  })();
</script>"""
seen = []


class Steps(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.rfile.read(int(self.headers['Content-Length'] or 0))
        if self.path == '/seen':
            return self.reply('\n'.join(seen).encode(), 'text/plain')
        seen.append(' '.join([self.headers['Host'], self.command, self.path, self.headers['Cookie'] or '']))
        if self.path in ('/', '/deeper'):
            return self.reply(PAGE, 'text/html')
        self.reply(b'', 'text/plain')

    do_POST = do_GET

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Other(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


def pair():
    while True:
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Steps)
        try:
            return server, Other(('::1', server.server_address[1]), Steps)
        except OSError:
            server.server_close()


first, second = pair()
threading.Thread(target=second.serve_forever, daemon=True).start()
print(f'listening on http://127.0.0.1:{first.server_address[1]}', flush=True)
first.serve_forever()
