"""Uploads a signed release over the API, with nothing but the documents at hand.

usage: push.py URL TOKEN RELEASE [ANSWERS]

Prints a line after each request that was answered: its method, its status, what it was for. Exits with 1 and the problem's
text when one was refused. After ANSWERS answers it waits for SIGUSR1, once.
"""
import hashlib, json, os, signal, sys, urllib.error, urllib.request

url, token, folder = sys.argv[1:4]
left = int(sys.argv[4]) if len(sys.argv) > 4 else 0
# Held back from the start, so that one that comes early is not lost.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})


def ask(method, path, body, kind, **fields):
    global left
    request = urllib.request.Request(url + '/api/v1' + path, data=body, method=method, headers={
        'Authorization': 'Bearer ' + token, 'Content-Type': kind, **{k.replace('_', '-'): v for k, v in fields.items()}})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            status, value = answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        if (problem := json.loads(text))['title'] == 'wrongOffset':
            return problem
        print(error.code, text)
        sys.exit(1)
    except OSError as error:
        print('gone', error)
        sys.exit(1)
    print(method, status, path.rsplit('/', 1)[-1], flush=True)
    left -= 1
    if left == 0:
        signal.sigwait({signal.SIGUSR1})
    return value


def document(name):
    with open(os.path.join(folder, name), 'rb') as file:
        return json.load(file)


def parts():
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), 'rb') as file:
                yield file.read()


contents = {hashlib.sha256(part).hexdigest(): part for part in parts()}
release = document('release.json')
base = f"/apps/{release['app']}/uploads"
state = ask('POST', base, json.dumps(dict(release=release, role=document('role.json'))).encode(), 'application/json')
sent = 0
while state['needs']:
    for need in state['needs']:
        part = contents[need['sha256']]
        offset = 0
        while offset < len(part) or not part:
            sent += len(part) - offset
            answer = ask('PATCH', f"{base}/{state['upload']}/parts/{need['sha256']}", part[offset:],
                         'application/octet-stream', Upload_Offset=str(offset))
            offset = answer['offset']
            if not part:
                break
    state = ask('GET', f"{base}/{state['upload']}", None, '')
outcome = ask('POST', f"{base}/{state['upload']}/publish", json.dumps(dict(label='by hand')).encode(), 'application/json')
print('sent', sent, 'bytes:', outcome['outcome'])
