"""A server that answers every request with a status line of a given status, whatever that is.

usage: impossible.py STATUS

Prints `listening on URL`, then the first line of each request.
"""
import socketserver, sys

status, = sys.argv[1:]


class Impossible(socketserver.StreamRequestHandler):
    def handle(self):
        line = self.rfile.readline().decode().strip()
        print(line, flush=True)
        while self.rfile.readline().strip():
            pass
        self.wfile.write(f'HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n'.encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


with Server(('127.0.0.1', 0), Impossible) as server:
    print(f'listening on http://127.0.0.1:{server.server_address[1]}', flush=True)
    server.serve_forever()
