"""A link of a given rate and delay between two network namespaces, packet by packet: real TCP runs over it, handshakes, slow
start and losses included. The kernel's netem would do the same, and not every kernel has it.

As a program: link.py SERVER_NS DEVICE_NS BITS_PER_SECOND ONE_WAY_SECONDS; a line on stdin asks for the counters.
"""

import collections, ctypes, fcntl, json, os, select, socket, struct, subprocess, sys, threading, time

SERVER, DEVICE = "198.18.77.1", "198.18.77.2"
BUFFER = 0.1  # Seconds of data that wait before the link; what comes on top of these is lost, as at a router.


def enter(namespace):
    """This thread's sockets and devices are the namespace's from now on."""
    with open(f"/run/netns/{namespace}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def tun(namespace, address):
    enter(namespace)
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, 0x400454CA, struct.pack("16sH22x", b"wire0", 0x0001 | 0x1000))
    for words in (["addr", "add", f"{address}/30", "dev", "wire0"], ["link", "set", "dev", "wire0", "up", "mtu", "1500"], ["link", "set", "dev", "lo", "up"]):
        subprocess.run(["ip", *words], check=True)
    return end


def carry(server, device, rate, delay):
    ends = [tun(server, SERVER), tun(device, DEVICE)]
    ways = [collections.deque(), collections.deque()]
    free, counters = [0.0, 0.0], {"down": 0, "up": 0, "lost": 0, "packets": 0}
    print("ready", flush=True)
    while True:
        due = min((way[0][0] for way in ways if way), default=None)
        wait = None if due is None else max(0, due - time.monotonic())
        ready, _, _ = select.select([*ends, 0], [], [], wait)
        now = time.monotonic()
        for number, end in enumerate(ends):
            if end not in ready:
                continue
            for _ in range(64):
                try:
                    packet = os.read(end, 2048)
                except BlockingIOError:
                    break
                begin = max(free[number], now)
                if begin - now > BUFFER:
                    counters["lost"] += 1
                    continue
                free[number] = begin + len(packet) * 8 / rate
                counters["up" if number else "down"] += len(packet)
                counters["packets"] += 1
                ways[number].append((free[number] + delay, packet))
        now = time.monotonic()
        for number, way in enumerate(ways):
            while way and way[0][0] <= now:
                try:
                    os.write(ends[1 - number], way.popleft()[1])
                except OSError:
                    pass
        if 0 in ready:
            if not os.read(0, 100):
                return
            print(json.dumps(counters), flush=True)
            counters = dict.fromkeys(counters, 0)


class Link:
    """The two namespaces and the process between them; the device's commands run behind `prefix`."""

    def __init__(self, bits=10_000_000, one_way=0.05):
        self.names = [f"updates-{end}-{os.getpid()}" for end in ("server", "device")]
        self.prefix = ["ip", "netns", "exec", self.names[1]]
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
            self.process = subprocess.Popen([sys.executable, __file__, *self.names, str(bits), str(one_way)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, start_new_session=True)
            if self.process.stdout.readline() != "ready\n":
                raise OSError("the link did not come up")
        except (OSError, subprocess.CalledProcessError):
            self.stop()
            raise

    def listener(self):
        """A listening socket at the server's end."""
        made = []

        def make():
            enter(self.names[0])
            made.append(socket.create_server((SERVER, 0), backlog=256))

        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        return made[0]

    def take(self):
        """Bytes of whole packets since the last time."""
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        if hasattr(self, "process"):
            self.process.stdin.close()
            self.process.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


if __name__ == "__main__":
    carry(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
