"""A browser's end of a WebSocket.

usage: websocket.py PORT PATH ORIGIN COOKIE

Sends two messages, one of them large, and prints the handshake's status, the first message that came, and whether both
were echoed.
"""
import base64, hashlib, os, socket, struct, sys

port, path, origin, cookie = sys.argv[1:]
key = base64.b64encode(os.urandom(16)).decode()
connection = socket.create_connection(('127.0.0.1', int(port)))
connection.sendall((f'GET {path} HTTP/1.1\r\nHost: {origin.split("//")[1]}\r\nOrigin: {origin}\r\nConnection: keep-alive, Upgrade\r\n'
                    f'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n'
                    f'Cookie: {cookie}; session=1\r\n\r\n').encode())
reader = connection.makefile('rb')
status = int(reader.readline().split()[1])
fields = {}
while (line := reader.readline().strip()):
    name, _, value = line.decode().partition(': ')
    fields[name.lower()] = value
print('status', status)
if status != 101:
    print(reader.read(int(fields['content-length'])).decode())
    sys.exit()
accept = base64.b64encode(hashlib.sha1((key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').encode()).digest()).decode()
assert fields['sec-websocket-accept'] == accept and fields['connection'].lower() == 'upgrade', fields


def read():
    first, size = reader.read(2)
    if size == 126:
        size = struct.unpack('>H', reader.read(2))[0]
    elif size == 127:
        size = struct.unpack('>Q', reader.read(8))[0]
    return reader.read(size)


def send(data, opcode=1):
    mask = os.urandom(4)
    size = bytes([128 | len(data)]) if len(data) < 126 else b'\xff' + struct.pack('>Q', len(data))
    connection.sendall(bytes([128 | opcode]) + size + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))


print('first', read().decode())
for message in (b'hello', os.urandom(300_000)):
    send(message)
    print('echoed', read() == message)
send(b'', opcode=8)
print('end', reader.read(1))
