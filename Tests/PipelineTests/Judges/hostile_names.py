"""Asks every endpoint that a server describes with names that no resource may have, each path parameter in turn.

usage: hostile_names.py setup URL TOKEN RELEASE > names.json
       hostile_names.py ask URL names.json

`setup` makes what the good names stand for, with the token of an admin. `ask` reads the endpoints from openapi.json, so a
new one is asked too, and prints a line for each answer that is no refusal (4xx, application/problem+json) or that holds
anything of the server's own files; then how many were asked.
"""
import http.client, json, os, re, socket, sys, urllib.request

HOSTILE = [
    '', '.', '..', '%2e%2e', '%2e%2e%2f', '..%2f..%2frecords.sqlite', '%2f', '..%5c..%5c', 'a%00b', '%00', '%0a',
    '%0d%0aX-Y:%20z', '%1b%5b2J', '%7f', '%c0%ae%c0%ae', '%ff', '%ed%a0%80', '%e2%80%ae', 'e%CC%81', '%20', '%', '%zz',
    '%252e%252e%252f', 'a' * 2000, '~root', "';--", 'com.example.other', '0' * 64 + '/..',
]
# Too long for a head that can be read at all: refused in a line of text, for nobody knows yet what was asked for.
TOO_LONG = 'a' * 9000
SECRETS = [b'PRIVATE KEY', b'SQLite format', b'secretSHA256', b'keep out']


def ask(url, method, target, token=None, body=None, kind='application/json', **fields):
    headers = {k.replace('_', '-'): v for k, v in fields.items()}
    if token:
        headers['Authorization'] = 'Bearer ' + token
    if body is not None:
        headers['Content-Type'] = kind
    request = urllib.request.Request(url + '/api/v1' + target, data=body, method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.loads(answer.read() or 'null')


def setup(url, token, folder):
    def document(name):
        with open(os.path.join(folder, name), 'rb') as file:
            return json.load(file)

    def post(path, **fields):
        return ask(url, 'POST', path, token, json.dumps(fields).encode())

    app = document('release.json')['app']
    channel = f'/apps/{app}/channels/production'
    state = post(f'/apps/{app}/uploads', release=document('release.json'), role=document('role.json'))
    made = [post('/tokens', name=f'hostile {number}', grants=['*=admin'], days=1) for number in range(4)]
    post(f'{channel}/answers', patchId='web', hold=True)
    return dict(
        good=dict(app=app, channel='production', upload=state['upload'], sha256=state['needs'][0]['sha256'], version='1',
                  token=made[0]['token']['id'], target='everyone', patch='web',
                  proposal=post(f'{channel}/proposals', action='withdraw', patchId='fix')['id']),
        tokens=[one['text'] for one in made])


class Client:
    """Raw, so that nothing is normalised on the way; connections are kept while the server keeps them."""

    def __init__(self, url):
        self.address, self.link = ('127.0.0.1', int(url.rsplit(':', 1)[1])), None

    def ask(self, method, target, token, body, kind):
        head = f'{method} {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n'
        if body is not None:
            head += f'Content-Type: {kind}\r\nUpload-Offset: 0\r\nContent-Length: {len(body)}\r\n'
        for attempt in range(2):
            try:
                if self.link is None:
                    self.link = socket.create_connection(self.address, timeout=300)
                self.link.sendall(head.encode() + b'\r\n' + (body or b''))
                answer = http.client.HTTPResponse(self.link, method=method)
                answer.begin()
                read = answer.status, answer.headers.get('Content-Type', ''), answer.read()
                if answer.will_close:
                    self.link = None
                return read
            except (OSError, http.client.HTTPException):
                self.link = None
                if attempt:
                    raise


def requests(url, good):
    described = ask(url, 'GET', '/openapi.json')
    for path, item in described['paths'].items():
        path = described['servers'][0]['url'] + path
        for method, operation in item.items():
            kinds = list(operation.get('requestBody', {}).get('content', {}))
            body, kind = (None, '') if not kinds else (b'{}' if 'json' in kinds[0] else b'x', kinds[0])
            names = [p['name'] for p in operation.get('parameters', []) if p['in'] == 'path']
            for name in names:
                for value in HOSTILE + [TOO_LONG]:
                    spelled = re.sub(r'{(\w+)}', lambda m: value if m[1] == name else good.get(m[1], 'x'), path)
                    # With nothing at its end a path is its folder's.
                    if not spelled.endswith('/'):
                        yield method.upper(), spelled, body, kind, value == TOO_LONG


def of_tree(app):
    for target in ['/../records.sqlite', f'/{app}/../../records.sqlite', f'/{app}/%2e%2e/%2e%2e/records.sqlite',
                   f'/{app}/..%2f..%2frecords.sqlite', f'/{app}%00', f'/{app}/metadata/%0a', f'/{app}/%c0%ae%c0%ae/records.sqlite',
                   f'/{app}/objects/%ff', f'/{app}/metadata/..%5c..%5c', f"/{app}/targets/{'a' * 2000}", f"/{'b/' * 2000}c",
                   '/records.sqlite', f'/apps/{app}/online.key', '/./lock', '//records.sqlite', f'/{app}/metadata/%252e%252e/lock']:
        yield target


def judge(url, names):
    good, tokens, client, count = names['good'], names['tokens'], Client(url), 0
    for method, target, body, kind, is_too_long in requests(url, good):
        count += 1
        status, answered, text = client.ask(method, target, tokens[count % len(tokens)], body, kind)
        where = f'{method} {target[:120]}: {status} {answered} {text[:100]}'
        if is_too_long:
            if status != 414:
                print(where)
        elif not 400 <= status < 500 or answered != 'application/problem+json' or json.loads(text)['status'] != status:
            print(where)
        elif status in (401, 403, 429):
            print('nobody looked at it:', where)
        if any(secret in text for secret in SECRETS):
            print('read outside:', where)
    for target in of_tree(good['app']):
        count += 1
        status, answered, text = client.ask('GET', target, tokens[0], None, '')
        if not 400 <= status < 500 or any(secret in text for secret in SECRETS):
            print(f'GET {target[:120]}: {status} {text[:100]}')
    print('asked', count)


if sys.argv[1] == 'setup':
    json.dump(setup(*sys.argv[2:5]), sys.stdout)
else:
    with open(sys.argv[3]) as file:
        judge(sys.argv[2], json.load(file))
