"""Sends a part of a signed release as far as it is told, and then waits, or goes on while the server stops.

usage: part.py URL TOKEN RELEASE BYTES wait|finish

Begins the upload, sends the first BYTES of its largest part and prints `sent`, the upload and the part's digest. With
`wait` it sends nothing more; with `finish` it sends the rest as soon as the server listens no more. Prints what it is
answered, its head's first line and its body, or `nothing` where the connection ends without an answer.
"""
import hashlib, json, os, socket, sys, time, urllib.request

url, token, folder, count, then = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
address = ('127.0.0.1', int(url.rsplit(':', 1)[1]))


def document(name):
    with open(os.path.join(folder, name), 'rb') as file:
        return json.load(file)


def bytes_of(digest):
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), 'rb') as file:
                if hashlib.sha256(part := file.read()).hexdigest() == digest:
                    return part


def listens():
    try:
        socket.create_connection(address).close()
        return True
    except OSError:
        return False


base = f"/api/v1/apps/{document('release.json')['app']}/uploads"
begin = json.dumps(dict(release=document('release.json'), role=document('role.json'))).encode()
fields = {'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'}
with urllib.request.urlopen(urllib.request.Request(url + base, data=begin, headers=fields), timeout=300) as answer:
    state = json.load(answer)
need = max(state['needs'], key=lambda need: need['size'])
part = bytes_of(need['sha256'])
with socket.create_connection(address) as link:
    head = f"PATCH {base}/{state['upload']}/parts/{need['sha256']} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    link.sendall((head + f"Upload-Offset: 0\r\nContent-Length: {len(part)}\r\n\r\n").encode() + part[:count])
    print('sent', state['upload'], need['sha256'], len(part), flush=True)
    if then == 'finish':
        while listens():
            time.sleep(0.01)
        link.sendall(part[count:])
    answer = b''
    try:
        while more := link.recv(65536):
            answer += more
    except OSError:
        pass
head, _, body = answer.decode().partition('\r\n\r\n')
print('answered', (head.split('\r\n')[0] + ' ' + body).strip() or 'nothing')
