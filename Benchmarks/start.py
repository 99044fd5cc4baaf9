"""Starts a program that serves and prints the milliseconds from its start to the first byte of an answer, and its peak
memory in kB by then.

usage: start.py PORT PATH COMMAND…     the command must listen on PORT of this machine; PATH may be a whole URL with its host
"""

import os, signal, socket, subprocess, sys, time

port, path, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
host = f"localhost:{port}"
if path.startswith("http://"):
    host, _, path = path[7:].partition("/")
    path = f"/{path}"
request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def first_byte(began):
    while time.perf_counter() - began < 60:
        try:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(request)
                head = connection.recv(12)
            if head.endswith(b"200"):
                return time.perf_counter() - began
        except OSError:
            pass
        time.sleep(0.0002)
    sys.exit(f"no answer within a minute of: {' '.join(command)}")


began = time.perf_counter()
program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    spent = first_byte(began)
    with open(f"/proc/{program.pid}/status") as status:
        peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    print(f"{spent * 1000:.1f} {peak}")
finally:
    program.send_signal(signal.SIGINT)
    program.wait()
