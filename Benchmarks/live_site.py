#!/usr/bin/env python3
"""A site of marked pages, each in two versions: the server behind the benchmark of live pages.

usage: live_site.py FOLDER       NAME.old.html and NAME.new.html, as mark_pages.py writes them

Prints `listening on http://…`. `/NAME` is the page, `/NAME?plain` the same without gzip; `/__show?VERSION` says which all are from now on: old, new, or other, whose template
is another one. Pages may be kept for an hour, if they are asked for each time.
"""
import gzip, http.server, pathlib, sys, urllib.parse

folder = pathlib.Path(sys.argv[1])
shown = "old"


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        global shown
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/__show":
            shown = url.query
            return self.reply(b"", "text/plain")
        file = folder / f"{url.path[1:]}.{'new' if shown == 'other' else shown}.html"
        if not file.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        page = file.read_bytes()
        if shown == "other":
            page = page.replace(b"<body", b"<body data-other", 1)
        self.reply(page, "text/html; charset=utf-8", url.query == "plain")

    def reply(self, body, kind, is_plain=False):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "max-age=0, stale-while-revalidate=3600")
        # The page alone, without what it would load beside it.
        self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
        if not is_plain and "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > 500:
            body = gzip.compress(body, 6, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
server.daemon_threads = True
print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
