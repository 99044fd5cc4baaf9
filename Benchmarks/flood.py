"""Floods a server of this machine with connections, and asks it something meanwhile.

usage: flood.py KIND URL COUNT SECONDS ADDRESSES [USER]    holds COUNT connections for SECONDS; each that ends is made anew,
                                                           200 a second at most; prints "up" once all are there, and
                                                           at the end how many were made
       flood.py ask URL COUNT ADDRESS [METHOD [COOKIE]]    asks COUNT times on a new connection each; prints p50, p99 and
                                                           worst in ms, and how many were not answered with 200

KIND: idle, head (a head that drips), body (a small POST that drips), upload (a kept body that drips), reader (a large
answer that is read by drips: URL names it). Only addresses of 127.0.0.0/8 are taken.
"""

import ipaddress, os, resource, select, socket, sys, time, urllib.parse


def loopback(text):
    if ipaddress.ip_address(text) not in ipaddress.ip_network("127.0.0.0/8"):
        sys.exit(f"{text} is not of this machine")
    return text


url = urllib.parse.urlparse(sys.argv[2])
server = (loopback(url.hostname), url.port)
target = url.path + (f"?{url.query}" if url.query else "")
host = f"Host: {url.hostname}:{url.port}\r\n"


def flood(kind, count, seconds, addresses, user):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    if count > limit - 50:
        sys.exit(f"ulimit -n is {limit}, too few for {count} connections")
    if user:
        os.seteuid(int(user))
    first = {
        "idle": "",
        "head": f"GET {target} HTTP/1.1\r\n{host}X: ",
        "body": f"POST {target} HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 65000\r\n\r\n",
        "upload": f"PATCH {target} HTTP/1.1\r\n{host}Content-Length: 65000\r\n\r\n",
        "reader": f"GET {target} HTTP/1.1\r\n{host}\r\n" * 1,
    }[kind].encode()
    poll, held, made, told = select.epoll(), {}, 0, False
    end, last_drip, allowed, since = time.monotonic() + 3600, time.monotonic(), 0.0, time.monotonic()

    def connect():
        one = socket.socket()
        one.setblocking(False)
        if kind == "reader":
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.bind((addresses[made % len(addresses)], 0))
        one.connect_ex(server)
        held[one.fileno()] = one
        poll.register(one.fileno(), select.EPOLLOUT)

    def drop(number):
        poll.unregister(number)
        held.pop(number).close()

    while time.monotonic() < end:
        now = time.monotonic()
        # The first ones as fast as they come, 2,000 a second; then 200 a second.
        allowed = min(200.0, allowed + (now - since) * (200 if told else 2000))
        since = now
        while len(held) < count and allowed >= 1:
            allowed -= 1
            made += 1
            connect()
        if not told and made >= count:
            told, end = True, now + seconds
            print("up", flush=True)
        for number, event in poll.poll(0.02):
            if event & (select.EPOLLERR | select.EPOLLHUP):
                drop(number)
            elif event & select.EPOLLOUT:
                try:
                    if first:
                        held[number].send(first)
                    poll.modify(number, 0 if kind == "reader" else select.EPOLLIN)
                except OSError:
                    drop(number)
            elif event & select.EPOLLIN:
                try:
                    if not held[number].recv(65536):
                        drop(number)
                except OSError:
                    drop(number)
        if now - last_drip >= 1:
            last_drip = now
            for number in list(held):
                try:
                    if kind == "reader":
                        held[number].recv(100)
                    elif kind != "idle":
                        held[number].send(b"x")
                except BlockingIOError:
                    pass
                except OSError:
                    drop(number)
    print(f"made {made} held {len(held)}", flush=True)


def ask(count, address, method="GET", cookie=""):
    request = f"{method} {target} HTTP/1.1\r\n{host}Connection: close\r\n"
    if cookie:
        request += f"Cookie: {cookie}\r\n"
    if method == "POST":
        request += "Content-Length: 0\r\n"
    times, failed = [], 0
    for _ in range(count):
        began = time.perf_counter()
        answer = b""
        try:
            with socket.socket() as one:
                one.settimeout(10)
                one.bind((address, 0))
                one.connect(server)
                one.sendall((request + "\r\n").encode())
                while piece := one.recv(65536):
                    answer += piece
        except OSError:
            pass
        times.append((time.perf_counter() - began) * 1000)
        failed += not answer.startswith(b"HTTP/1.1 200 ")
        time.sleep(0.02)
    times.sort()
    print(f"{times[len(times) // 2]:.1f} {times[min(len(times) - 1, len(times) * 99 // 100)]:.1f} {times[-1]:.1f} {failed}")


if sys.argv[1] == "ask":
    ask(int(sys.argv[3]), loopback(sys.argv[4]), *sys.argv[5:])
else:
    flood(sys.argv[1], int(sys.argv[3]), float(sys.argv[4]), [loopback(a) for a in sys.argv[5].split(",")], (sys.argv[6:] or [""])[0])
