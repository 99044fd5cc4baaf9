"""A static host of a published tree with one odd habit, which the first part of a path names: /HABIT/APP/metadata/timestamp.json.

usage: odd.py TREE

Prints `listening on URL`, then each request that has no body: `HABIT PATH RANGE`.
"""
import gzip, http.server, os, re, sys

tree, = sys.argv[1:]

# Fields that each answer has in place of the usual ones, or beside them.
FIELDS = {
    'coding-empty': {'Content-Encoding': ''},
    'coding-aws-chunked': {'Content-Encoding': 'aws-chunked'},
    'coding-utf8': {'Content-Encoding': 'utf-8'},
    'coding-none': {'Content-Encoding': 'none'},
    'coding-binary': {'Content-Encoding': 'binary'},
    'coding-identity': {'Content-Encoding': 'identity'},
    'coding-type': {'Content-Encoding': 'application/octet-stream'},
    'label-gzip': {'Content-Encoding': 'gzip'},
    'label-zstd': {'Content-Encoding': 'zstd'},
    'label-br': {'Content-Encoding': 'br'},
    'label-twice': {'Content-Encoding': 'gzip, gzip'},
    'tag-unquoted': {'ETag': 'abc'},
    'tag-empty': {'ETag': ''},
    'tag-40': {'ETag': '"%s"' % ('5e' * 20)},
    'tag-64': {'ETag': '"%s"' % ('5e' * 32)},
    'tag-weak': {'ETag': 'W/"%s"' % ('5e' * 32)},
    'tag-multipart': {'ETag': '"d41d8cd98f00b204e9800998ecf8427e-2"'},
    'tag-long': {'ETag': '"%s"' % ('x' * 4000)},
    'type-html': {'Content-Type': 'text/html; charset=utf-8'},
    'type-odd': {'Content-Type': ';;,'},
    'type-absent': {'Content-Type': None},
    'date-1970': {'Date': 'Thu, 01 Jan 1970 00:00:00 GMT', 'Last-Modified': 'Fri, 01 Jan 2100 00:00:00 GMT'},
    'date-none': {'Date': None, 'Last-Modified': 'yesterday'},
    'cache': {'Age': '99999999', 'Vary': '*', 'Expires': '0', 'Cache-Control': 'no-store', 'Via': '1.0 x', 'Warning': '110'},
    'fields-many': {f'X-Pad-{number}': 'y' * 100 for number in range(120)},
    'cookie': {'Set-Cookie': 'a=b; Path=/'},
    'disposition': {'Content-Disposition': 'attachment; filename=x', 'Content-MD5': 'AAAA', 'Digest': 'sha-256=AAAA'},
}


class Odd(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def version_string(self):
        return 'odd'

    def answer(self, status, body, fields, length=True):
        self.send_response_only(status)
        usual = {'Content-Type': 'application/octet-stream', 'Date': self.date_time_string()}
        if length:
            usual['Content-Length'] = str(len(body))
        for name, value in {**usual, **fields}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        if self.command == 'GET':
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        _, habit, rest = self.path.split('?')[0].split('/', 2)
        wanted = re.fullmatch('bytes=([0-9]+)-([0-9]*)', self.headers.get('Range', ''))
        print(habit, rest, self.headers.get('Range', '-'), flush=True)
        moved = rest.startswith('moved/')
        path = os.path.join(tree, rest[6:] if moved else rest)
        if not os.path.isfile(path):
            page = {'missing-page': (200, b'<!doctype html><title>app</title>'), 'missing-403': (403, b'<Error/>')}
            return self.answer(*page.get(habit, (404, b'')), {'Content-Type': 'text/html'})
        body = open(path, 'rb').read()
        fields = FIELDS.get(habit, {})
        accepts = self.headers.get('Accept-Encoding', '')
        if habit == 'redirect' and not moved:
            return self.answer(302, b'', {'Location': f'/redirect/moved/{rest}'})
        if habit == 'redirect-relative' and not moved:
            return self.answer(301, b'', {'Location': f'{"../" * rest.count("/")}moved/{rest}'})
        if habit == 'redirect-loop':
            return self.answer(301, b'', {'Location': self.path})
        if habit == 'packs-always':
            return self.answer(200, gzip.compress(body), {'Content-Encoding': 'gzip'})
        if habit == 'packs-twice' and 'gzip' in accepts:
            return self.answer(200, gzip.compress(gzip.compress(body)), {'Content-Encoding': 'gzip, gzip'})
        if habit == 'packs-x-gzip' and 'gzip' in accepts:
            return self.answer(200, gzip.compress(body), {'Content-Encoding': 'X-GZIP'})
        if habit == 'packs-br-always':
            return self.answer(200, b'\x0b\x02\x80' + body[::-1], {'Content-Encoding': 'br'})
        if habit == 'status-203':
            return self.answer(203, body, {})
        if habit == 'status-204':
            return self.answer(204, b'', {}, length=False)
        if habit == 'status-206':
            return self.answer(206, body, {'Content-Range': f'bytes 0-{len(body) - 1}/{len(body)}'})
        if habit == 'status-304':
            return self.answer(304, b'', {}, length=False)
        if habit == 'page':
            return self.answer(200, b'<html>error</html>', {'Content-Type': 'text/html'})
        if habit == 'bom':
            body = b'\xef\xbb\xbf' + body
        if habit == 'garbage-behind':
            body += b'garbage'
        if habit == 'length-absent':
            self.close_connection = True
            return self.answer(200, body, {'Connection': 'close'}, length=False)
        if habit == 'length-larger':
            self.close_connection = True
            return self.answer(200, body, {'Connection': 'close', 'Content-Length': str(len(body) + 1000)})
        if habit == 'length-smaller':
            self.close_connection = True
            return self.answer(200, body, {'Connection': 'close', 'Content-Length': str(max(0, len(body) - 1))})
        if habit == 'length-chunked':
            return self.answer(200, b'%x\r\n%s\r\n0\r\n\r\n' % (len(body), body) if body else b'0\r\n\r\n',
                               {'Transfer-Encoding': 'chunked', 'Content-Length': str(len(body))})
        if habit == 'chunked':
            pieces = [body[at:at + 700] for at in range(0, len(body), 700)]
            return self.answer(200, b''.join(b'%x;ext=1\r\n%s\r\n' % (len(piece), piece) for piece in pieces) + b'0\r\nX-Trailer: 1\r\n\r\n',
                               {'Transfer-Encoding': 'chunked'}, length=False)
        if wanted and habit in ('honest', 'label-gzip', 'tag-40', 'type-html'):
            first = int(wanted[1])
            last = min(int(wanted[2] or len(body)), len(body) - 1)
            return self.answer(206, body[first:last + 1], {'Content-Range': f'bytes {first}-{last}/{len(body)}', **fields})
        self.answer(200, body, fields)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Odd)
print(f'listening on http://127.0.0.1:{server.server_port}', flush=True)
server.serve_forever()
