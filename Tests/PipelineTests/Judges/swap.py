"""Stands before a release service and says of each proposal that it holds another change than it does.

usage: swap.py URL CHANGE…

Prints `listening on URL`, and a line each time that a proposal is asked for. The first time it holds the first CHANGE, and so
on; the last one stays. All else is passed on.
"""
import http.client, http.server, json, re, sys, urllib.parse

origin, *changes = sys.argv[1:]
changes = [json.loads(change) for change in changes]


class Swap(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def answer(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        service = http.client.HTTPConnection(urllib.parse.urlsplit(origin).netloc)
        service.request(self.command, self.path, body or None, dict(self.headers))
        answer = service.getresponse()
        body = answer.read()
        service.close()
        if self.command == 'GET' and re.search('/proposals/[^/]+$', self.path) and answer.status == 200:
            change = changes.pop(0) if len(changes) > 1 else changes[0]
            body = json.dumps(json.loads(body) | {'change': change}).encode()
            print('holds', change['action'], flush=True)
        self.send_response(answer.status)
        self.send_header('Content-Type', answer.getheader('Content-Type') or 'application/json')
        if answer.status != 204:
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer


with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Swap) as server:
    server.daemon_threads = True
    print(f'listening on http://127.0.0.1:{server.server_address[1]}', flush=True)
    server.serve_forever()
