"""Alters a published tree as somebody would who holds keys: what was changed is signed again, so that one rule alone is broken.

usage: forge.py APP_DIR KEYS OTHER_KEYS 'EDIT|ARGUMENT'

EDIT is the name of one of the functions at the end. KEYS are the unencrypted keys of the tree, OTHER_KEYS those of another
root of trust. Written with `cryptography` alone, after the design's page and not after our sources.
"""
import base64, copy, hashlib, json, os, struct, sys
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

app_dir, keys, other_keys, edit = sys.argv[1:]
APP = os.path.basename(app_dir)
LONG_AGO = '2020-01-01T00:00:00Z'


def canonical(value):
    if isinstance(value, str):
        return b'"' + value.encode().replace(b'\\', b'\\\\').replace(b'"', b'\\"') + b'"'
    if isinstance(value, list):
        return b'[' + b','.join(map(canonical, value)) + b']'
    if isinstance(value, dict):
        return b'{' + b','.join(canonical(k) + b':' + canonical(value[k]) for k in sorted(value)) + b'}'
    return json.dumps(value).encode()


def written(value):
    return json.dumps(value, sort_keys=True, separators=(',', ':'), ensure_ascii=False).encode()


def digests(data):
    return {'size': len(data), **{n: hashlib.new(n, data).hexdigest() for n in ('md5', 'sha1', 'sha256')}}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def private(name, folder=None):
    with open(f'{folder or keys}/{name}.key', 'rb') as file:
        # Checking that primes are prime takes longer than all the rest.
        return serialization.load_pem_private_key(file.read(), None, unsafe_skip_rsa_key_validation=True)


def put(path, data):
    path = f'{app_dir}/{path}'
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.chmod(path, 0o644)
    with open(path, 'wb') as file:
        file.write(data)


def get(path):
    with open(f'{app_dir}/{path}', 'rb') as file:
        return file.read()


def put_object(data):
    put(f'objects/{sha256(data)[:2]}/{sha256(data)}', data)


HEX = '0123456789abcdef'
BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


def flip(text):
    """The same text with one bit of its middle changed, whether it is hexadecimal or base64."""
    middle = len(text) // 2
    digits = HEX if set(text) <= set(HEX) else BASE64
    return text[:middle] + digits[digits.index(text[middle]) ^ 1] + text[middle + 1:]


class Tree:
    """What the tree publishes now, to be altered and written as the next versions of its roles."""

    def __init__(self):
        self.roles = {'timestamp': json.loads(get('metadata/timestamp.json'))}
        self.roles['snapshot'] = self.role('snapshot', self.signed('timestamp')['meta']['snapshot.json']['version'])
        for name in ('targets', 'production', 'dial'):
            self.roles[name] = self.role(name, self.signed('snapshot')['meta'][f'{name}.json']['version'])
        self.roles['root'] = self.role('root', 1)
        self.list = json.loads(self.target('production/patchlist.json'))
        # The newest version of each; it stands first.
        self.entries = {entry['patchId']: entry for entry in reversed(self.list['patches'])}
        version = self.entries['web']['version']
        self.base = f'production/web/{version}'
        self.manifest = json.loads(self.target(f'{self.base}/manifest.json'))
        column = self.target(f'{self.base}/manifest.sigs')
        self.keyid, (self.length, _) = column[8:40], struct.unpack('>HI', column[40:46])
        self.signatures = [column[i:i + self.length] for i in range(46, len(column), self.length)]
        self.column = None
        self.signers = {'timestamp': 'online', 'snapshot': 'online', 'dial': 'online', 'targets': 'targets',
                        'production': 'production', 'root': 'root'}
        self.signer_folders = {}

    def role(self, name, version):
        return json.loads(get(f'metadata/{version}.{name}.json'))

    def signed(self, name):
        return self.roles[name]['signed']

    def target(self, path, role='production'):
        folder, name = os.path.split(path)
        return get(f"targets/{folder}/{self.signed(role)['targets'][path]['hashes']['sha256']}.{name}")

    def put_target(self, path, data):
        folder, name = os.path.split(path)
        put(f'targets/{folder}/{sha256(data)}.{name}', data)
        self.signed('production')['targets'][path] = {'length': len(data), 'hashes': {'sha256': sha256(data)}}
        return f'targets/{folder}/{sha256(data)}.{name}'

    # Statements

    def sign_entry(self, entry, key='entry', folder=None, **stated):
        names = ('patchId', 'kind', 'version', 'size', 'md5', 'sha1', 'sha256')
        statement = {'app': APP, 'channel': 'production', **{name: entry[name] for name in names}, **stated}
        signature = private(key, folder).sign(b'patchline-patch-v1\n' + canonical(statement), padding.PKCS1v15(), hashes.SHA256())
        entry['signature']['sig'] = base64.b64encode(signature).decode()

    def asset_signature(self, asset, **stated):
        statement = {'app': APP, 'patchId': 'web', **{n: asset[n] for n in ('path', 'size', 'md5', 'sha1', 'sha256')}, **stated}
        return private('entry').sign(b'patchline-asset-v1\n' + canonical(statement), padding.PKCS1v15(), hashes.SHA256())

    def script(self, patch, version, text, **members):
        """A new entry of a script, signed, with its bytes in the tree; it stands in no list yet."""
        data = text.encode()
        put_object(data)
        entry = {**copy.deepcopy(self.entries[patch]), **digests(data), 'version': version, **members}
        entry['url'] = f'objects/{sha256(data)[:2]}/{sha256(data)}'
        self.sign_entry(entry)
        return entry

    def sign_assets(self):
        self.signatures = [self.asset_signature(asset) for asset in self.manifest['assets']]

    # Writing, from the inside out

    def write_bundle(self, manifest=None, sign=True):
        data = written(self.manifest) if manifest is None else manifest
        column = self.column
        if column is None:
            header = b'PLSIGS1\n' + self.keyid + struct.pack('>HI', self.length, len(self.signatures))
            column = header + b''.join(self.signatures)
        entry = self.entries['web']
        entry.update(digests(data))
        entry['url'] = self.put_target(f'{self.base}/manifest.json', data)
        self.put_target(f'{self.base}/manifest.sigs', column)
        if sign:
            self.sign_entry(entry)

    def write_list(self, data=None):
        self.put_target('production/patchlist.json', written(self.list) if data is None else data)
        self.write('production')

    def write(self, *altered):
        """Signs these roles again, and what refers to them."""
        snapshot = self.signed('snapshot')['meta']
        for name in altered:
            if name not in ('snapshot', 'timestamp'):
                data = self.sign_role(name)
                put(f"metadata/{self.signed(name)['version']}.{name}.json", data)
                if name != 'root':
                    snapshot[f'{name}.json'] = self.meta(name, data)
        data = self.sign_role('snapshot')
        put(f"metadata/{self.signed('snapshot')['version']}.snapshot.json", data)
        self.signed('timestamp')['meta']['snapshot.json'] = self.meta('snapshot', data)
        put('metadata/timestamp.json', self.sign_role('timestamp'))

    def meta(self, name, data):
        return {'version': self.signed(name)['version'], 'length': len(data), 'hashes': {'sha256': sha256(data)}}

    def sign_role(self, name):
        role = self.roles[name]
        role['signed']['version'] += 1
        key = private(self.signers[name], self.signer_folders.get(name))
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
        keyid = role['signatures'][0]['keyid']
        role['signatures'] = [{'keyid': keyid, 'sig': key.sign(canonical(role['signed']), pss, hashes.SHA256()).hex()}]
        return written(role)


tree = Tree()
fix, tip, web = (tree.entries[name] for name in ('fix', 'tip', 'web'))
assets = {asset['path']: asset for asset in tree.manifest['assets']}


# One entry of the list, its role signed again

def list_digest(name):
    fix[name] = flip(fix[name])
    tree.write_list()

def list_size():
    fix['size'] += 1
    tree.write_list()

def list_signature():
    fix['signature']['sig'] = flip(fix['signature']['sig'])
    tree.write_list()

def list_keyid():
    fix['signature']['keyid'] = flip(fix['signature']['keyid'])
    tree.write_list()

def list_other_key():
    tree.sign_entry(fix, folder=other_keys)
    tree.write_list()

def list_moved(member, value):
    """Signed for another app, channel, patch or version."""
    tree.sign_entry(fix, **{member: value})
    tree.write_list()

def list_takes_signature_of_tip():
    fix['signature'] = copy.deepcopy(tip['signature'])
    tree.write_list()

def list_takes_bytes_of_tip():
    """Another file of the list stands behind the label, with the signature of the first."""
    fix.update({name: tip[name] for name in ('size', 'md5', 'sha1', 'sha256', 'url')})
    tree.write_list()

def list_wrong_but_signed(name):
    """The entry's signer lies about one digest of the file."""
    fix[name] = flip(fix[name])
    tree.sign_entry(fix)
    tree.write_list()

def list_field(name, value):
    fix[name] = json.loads(value)
    tree.sign_entry(fix)
    tree.write_list()

def republished():
    """The label that stands there with other bytes, in good order otherwise."""
    data = b'// other bytes\n'
    put_object(data)
    fix.update(digests(data))
    fix['url'] = f'objects/{sha256(data)[:2]}/{sha256(data)}'
    tree.sign_entry(fix)
    tree.write_list()


# The list as a whole

def list_header(name, value):
    tree.list[name] = value
    tree.write_list()

def list_text(old, new):
    tree.write_list(written(tree.list).replace(old.encode(), new.encode(), 1))

def list_role_unsigned():
    """The file altered behind the server's back, nothing signed again."""
    data = bytearray(tree.target('production/patchlist.json'))
    data[len(data) // 2] ^= 1
    name = tree.signed('production')['targets']['production/patchlist.json']['hashes']['sha256']
    put(f'targets/production/{name}.patchlist.json', bytes(data))


# A bundle

def asset_digest(name):
    row = assets['app/main.js']
    row[name] = flip(row[name])
    tree.write_bundle()
    tree.write_list()

def asset_wrong_but_signed(name):
    row = assets['app/main.js']
    row[name] = flip(row[name])
    tree.sign_assets()
    tree.write_bundle()
    tree.write_list()

def asset_signature():
    i = tree.manifest['assets'].index(assets['app/main.js'])
    tree.signatures[i] = tree.signatures[i][:-1] + bytes([tree.signatures[i][-1] ^ 1])
    tree.write_bundle()
    tree.write_list()

def asset_moved(member, value):
    """Signed for another app, patch or path."""
    i = tree.manifest['assets'].index(assets['app/main.js'])
    tree.signatures[i] = tree.asset_signature(assets['app/main.js'], **{member: value})
    tree.write_bundle()
    tree.write_list()

def asset_takes_place_of_other():
    """app/main.js holds the bytes of app/same.css, with the signature that those have there."""
    row, other = assets['app/main.js'], assets['app/same.css']
    rows = tree.manifest['assets']
    row.update({n: other[n] for n in ('size', 'md5', 'sha1', 'sha256')})
    tree.signatures[rows.index(row)] = tree.signatures[rows.index(other)]
    tree.write_bundle()
    tree.write_list()

def column_bytes(what):
    data = tree.target(f'{tree.base}/manifest.sigs')
    tree.column = {
        'truncated': data[:-1], 'longer': data + b'\0', 'magic': b'PLSIGS2\n' + data[8:],
        'count': data[:42] + struct.pack('>I', len(tree.signatures) + 1) + data[46:],
        'keyid': data[:8] + bytes([data[8] ^ 1]) + data[9:],
    }[what]
    tree.write_bundle()
    tree.write_list()

def manifest_header(name, value):
    tree.manifest[name] = value
    tree.write_bundle()
    tree.write_list()

def manifest_path(path):
    """app/main.js under another path, everything signed."""
    path = path.encode().decode('unicode_escape').encode('latin-1').decode()
    assets['app/main.js'].update(path=path, url='/app/main.js')
    tree.manifest['assets'].sort(key=lambda asset: asset['path'].encode())
    tree.sign_assets()
    tree.write_bundle()
    tree.write_list()

def manifest_again(path):
    """app/same.css once more under a second path."""
    tree.manifest['assets'].append({**assets['app/same.css'], 'path': path, 'url': '/' + path})
    tree.manifest['assets'].sort(key=lambda asset: asset['path'].encode())
    tree.sign_assets()
    tree.write_bundle()
    tree.write_list()

def manifest_digest_unsigned():
    """The role vouches for other manifest bytes than the list's entry says."""
    data = written(tree.manifest).replace(b'release2', b'release9')
    tree.put_target(f'{tree.base}/manifest.json', data)
    put(web['url'], data)
    tree.write('production')

def manifest_digest_behind_role():
    """The manifest's file altered, nothing signed again."""
    put(web['url'], written(tree.manifest).replace(b'release2', b'release9'))


# Roles

def expired(name):
    tree.signed(name)['expires'] = LONG_AGO
    tree.write(name)

def other_key(name):
    tree.signer_folders[name] = other_keys
    tree.write(name)

def entry_key_altered():
    rows = tree.signed('production')['x-patchline-entry-keys']
    (row,) = rows.values()
    lines = row['keyval']['public'].split('\n')
    lines[3] = flip(lines[3])
    row['keyval']['public'] = '\n'.join(lines)
    tree.write('production')

def entry_key_gone():
    tree.signed('production')['x-patchline-entry-keys'] = {}
    tree.write('production')

def rolled_back_role():
    """A snapshot that names the release before, signed by a stolen online key."""
    old = get('metadata/1.production.json')
    tree.signed('snapshot')['meta']['production.json'] = {'version': 1, 'length': len(old), 'hashes': {'sha256': sha256(old)}}
    tree.write()

def dropped_role():
    del tree.signed('snapshot')['meta']['production.json']
    tree.write()

def role_outside_its_paths():
    tree.signed('targets')['delegations']['roles'] = [
        {**role, 'paths': ['elsewhere/*']} if role['name'] == 'production' else role
        for role in tree.signed('targets')['delegations']['roles']]
    tree.write('targets')

def root_rotation():
    put('metadata/2.root.json', tree.sign_role('root'))

def root_rotation_by_others():
    tree.signer_folders['root'] = other_keys
    put('metadata/2.root.json', tree.sign_role('root'))

def root_without_app():
    """A root of trust in good order that does not say which app it is for: rogue.root.json."""
    del tree.signed('root')['x-patchline-app']
    tree.signed('root')['version'] = 0
    put('rogue.root.json', tree.sign_role('root'))

def root_altered():
    put('rogue.root.json', written(tree.roles['root']).replace(b'"version":1', b'"version":7'))


# What a thief does with one stolen key

def signed_by(key, name):
    tree.signers[name] = key
    if name == 'root':
        put('metadata/2.root.json', tree.sign_role('root'))
    else:
        tree.write(name)

def script_by_entry_key():
    """A script of the thief's, its entry and role signed by the entry key."""
    data = b'// stolen\n'
    put_object(data)
    fix.update(digests(data), version='3')
    fix['url'] = f'objects/{sha256(data)[:2]}/{sha256(data)}'
    tree.sign_entry(fix)
    tree.signers['production'] = 'entry'
    tree.write_list()

def put_online(name, value):
    """A document of the dial's role: what the online key says."""
    data = written(value)
    put(f'targets/dial/{sha256(data)}.{name}', data)
    tree.signed('dial')['targets'][f'dial/{name}'] = {'length': len(data), 'hashes': {'sha256': sha256(data)}}

def put_dial(*rows):
    rows = [{'patchId': entry['patchId'], 'sha256': entry['sha256'], **members} for entry, members in rows]
    put_online('production.json', {'format': 'patchline-dial-v1', 'app': APP, 'channel': 'production', 'rows': rows})

def dial(ceiling, turned):
    """Release keys sign this ceiling for the newest versions; whoever has the online key turns them to this."""
    for entry in (fix, web):
        entry.setdefault('rules', {})['rollout'] = int(ceiling)
    tree.write_list()
    put_dial(*((entry, {'rollout': int(turned)}) for entry in (fix, web)))
    tree.write('dial')

def to_lie_about():
    """A list of which a device with release 1 may have one thing more, once it is given a place; prints what to lie with.

    fix 2 stands above its ceiling, web 2.0.0 is for others, fix 0 stands below what it has, tip 2 is for whom the server
    gives a place, and it gives none.
    """
    fix['rules'] = {'rollout': 0}
    web['rules'] = {'rollout': 10000, 'condition': 'region==elsewhere'}
    older, counted = tree.script('fix', '0', '// older\n', rules={'rollout': 10000}), tree.script('tip', '2', '// counted\n')
    tree.list['patches'].insert(tree.list['patches'].index(tip), counted)
    tree.list['patches'].append(older)
    tree.write_list()
    put_dial((fix, {'rollout': 10000, 'headcount': 10 ** 6}), (counted, {'rollout': 10000, 'headcount': 0}))
    tree.write('dial')
    # Signed by release keys too, for others: a channel, and an app.
    foreign = tree.script('fix', '3', '// of beta\n')
    tree.sign_entry(foreign, channel='beta')
    evil = b'// evil\n'
    put_object(evil)
    entries = {'above': fix, 'others': web, 'older': older, 'counted': counted, 'foreign': foreign}
    print(json.dumps({**{name: entry['sha256'] for name, entry in entries.items()}, 'evil': sha256(evil)}))

def bad_release():
    """With release and online key: the next release, a bad one."""
    data = b'// bad\n'
    put_object(data)
    fix.update(digests(data), version='6.6.6')
    fix['url'] = f'objects/{sha256(data)[:2]}/{sha256(data)}'
    tree.sign_entry(fix)
    tree.write_list()

def fast_forward():
    """The same under the highest version there is."""
    for name in ('production', 'snapshot', 'timestamp'):
        tree.signed(name)['version'] = 2 ** 53 - 2
    bad_release()


# What a thief does who has the whole server: its disk, its services and the online key, and no other key. KEYS hold that alone.

def thief(what, number):
    """One attack of many in a row, each under higher numbers than the one before."""
    for name in ('timestamp', 'snapshot', 'dial'):
        tree.signed(name)['version'] += 100 * int(number)
    evil = b'// evil\n'
    put_object(evil)
    entry = {**fix, **digests(evil), 'version': '6.6.6', 'url': f'objects/{sha256(evil)[:2]}/{sha256(evil)}'}
    if what == 'bytes':
        for folder, _, names in os.walk(f'{app_dir}/objects'):
            for name in names:
                size = os.path.getsize(f'{folder}/{name}')
                put(os.path.relpath(f'{folder}/{name}', app_dir), (evil * size)[:size])
        tree.write('dial')
    elif what == 'list':
        tree.list['patches'].insert(0, entry)
        tree.signers['production'] = 'online'
        tree.write_list()
        tree.write('dial')
    elif what == 'older':
        old = get('metadata/2.production.json')
        tree.signed('snapshot')['meta']['production.json'] = {'version': 2, 'length': len(old), 'hashes': {'sha256': sha256(old)}}
        tree.write('dial')
    elif what == 'dial':
        put_dial(*((e, {'rollout': 10000, 'headcount': 10 ** 9}) for e in (fix, web, entry)))
        tree.write('dial')
    elif what == 'list of the dial':
        tree.list['patches'].insert(0, entry)
        data = written(tree.list)
        put(f'targets/production/{sha256(data)}.patchlist.json', data)
        tree.signed('dial')['targets']['production/patchlist.json'] = {'length': len(data), 'hashes': {'sha256': sha256(data)}}
        tree.write('dial')
    elif what == 'root':
        tree.signers['root'] = 'online'
        put('metadata/2.root.json', tree.sign_role('root'))
        tree.write('dial')
    elif what == 'parameters of before':
        version = tree.signed('snapshot')['meta']['dial.json']['version'] - 1
        old = get(f'metadata/{version}.dial.json')
        tree.signed('snapshot')['meta']['dial.json'] = {'version': version, 'length': len(old), 'hashes': {'sha256': sha256(old)}}
        tree.write()
    elif what.startswith('parameters'):
        document = {'format': 'patchline-parameters-v1', 'app': APP, 'channel': 'production', 'parameters': {'banner': 'Theft'}}
        if what == 'parameters of another app':
            document['app'] = 'com.example.other'
        elif what == 'parameters without an end':
            document['parameters'] = {f'n{i}': 'x' * 4096 for i in range(20)}
        elif what == 'parameters by another key':
            tree.signer_folders['dial'] = other_keys
        put_online('production.parameters.json', document)
        tree.write('dial')
    elif what == 'nothing':
        del tree.signed('snapshot')['meta']['production.json']
        tree.write('dial')
    else:
        raise ValueError(what)


function, *arguments = edit.split('|')
globals()[function](*arguments)
