"""Passes connections on to a server, and falls silent after so many bytes: stall.py PORT BYTES."""

import socket
import sys
import threading

server, limit = int(sys.argv[1]), int(sys.argv[2])
lock = threading.Lock()
passed = 0


def pump(source, sink, counts):
    global passed
    try:
        while data := source.recv(16384):
            if counts:
                with lock:
                    passed += len(data)
                    if passed > limit:
                        # What was passed on arrives; nothing more comes, either way.
                        sink.shutdown(socket.SHUT_WR)
                        print("stalled", flush=True)
                        threading.Event().wait()
            elif passed > limit:
                threading.Event().wait()
            sink.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
while True:
    client, _ = listener.accept()
    upstream = socket.create_connection(("127.0.0.1", server))
    for ends in ((client, upstream, True), (upstream, client, False)):
        threading.Thread(target=pump, args=ends, daemon=True).start()
