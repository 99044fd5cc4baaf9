"""A line between a device and its server, as slow as it is told to be.

usage: line.py SERVER CONTROL

CONTROL is a file, read all the time: `closed` hangs up on everybody, a number lets so many bytes of answers through in all,
`open` everything. Prints `listening on URL`, and `held` when bytes begin to wait.
"""
import socket, sys, threading, time

server, control = sys.argv[1:]
host, port = server.rsplit('/', 1)[-1].split(':')
counting = threading.Lock()
passed = 0


def state():
    return open(control).read().strip()


def share(wanted):
    """How many of these bytes may pass now; waits until there is one."""
    global passed
    isHeld = False
    while True:
        now = state()
        if now == 'closed':
            raise OSError
        with counting:
            most = wanted if now == 'open' else min(wanted, int(now or 0) - passed)
            if most > 0:
                passed += most
                return most
        if not isHeld:
            print('held', flush=True)
        isHeld = True
        time.sleep(0.01)


def relay(source, target, isAnswer):
    try:
        while data := source.recv(4096):
            while data:
                most = share(len(data)) if isAnswer else len(data)
                target.sendall(data[:most])
                data = data[most:]
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


listener = socket.create_server(('127.0.0.1', 0))
print('listening on http://127.0.0.1:%d' % listener.getsockname()[1], flush=True)
while True:
    device, _ = listener.accept()
    if state() == 'closed':
        device.close()
        continue
    far = socket.create_connection((host, int(port)))
    for ends in ((device, far, False), (far, device, True)):
        threading.Thread(target=relay, args=ends, daemon=True).start()
