"""Opens very many connections to a server that takes few: crowd.py PORT COUNT MOST COOKIE TARGET PID

One client was there before and goes on asking. Prints one line of JSON: connections that were held and refused, answers
that the first client got meanwhile, whether everything was answered again once the others had gone, and by how many kB the
server grew.
"""
import http.client, json, select, socket, sys, time

port, count, most = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
cookie, target, pid = sys.argv[4:7]
asked = 0


def resident():
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def ask(client):
    """A target of its own each time, so that the server opens the file for each."""
    global asked
    asked += 1
    client.request("GET", f"{target}?{asked}", headers={"Cookie": cookie})
    answer = client.getresponse()
    answer.read()
    return answer.status


first = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
meanwhile = [ask(first)]
before = resident()
grown = 0
waiting, poll = {}, select.poll()
refused, otherwise = 0, []


def reap(wait):
    global refused
    for number, _ in poll.poll(wait):
        client = waiting.pop(number)
        poll.unregister(number)
        try:
            text = client.recv(4096)
        except ConnectionError:
            text = b""
        if not text or text.startswith(b"HTTP/1.1 503 "):
            refused += 1
        else:
            otherwise.append(text[:40].decode("latin-1"))
        client.close()


for number in range(count):
    client = socket.create_connection(("127.0.0.1", port), timeout=300)
    waiting[client.fileno()] = client
    poll.register(client, select.POLLIN | select.POLLHUP)
    # No more on their way than the queue of a listening socket takes.
    reap(0 if len(waiting) < most + 100 else 1000)
    if number % 1000 == 999:
        meanwhile.append(ask(first))
        grown = max(grown, resident() - before)
deadline = time.monotonic() + 300
while len(waiting) >= most and time.monotonic() < deadline:
    reap(100)
held = len(waiting)
for client in waiting.values():
    client.close()

# The server may see the end of some a moment later.
again, deadline = 0, time.monotonic() + 300
while again < 20 and time.monotonic() < deadline:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        again = again + 1 if ask(client) == 200 else 0
    except (ConnectionError, http.client.HTTPException):
        again = 0
    client.close()
meanwhile.append(ask(first))
print(json.dumps({
    "held": held, "refused": refused, "otherwise": otherwise, "meanwhile": sorted(set(meanwhile)), "asked": len(meanwhile),
    "again": again, "grownKB": grown,
}))
