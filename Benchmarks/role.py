"""A TUF repository with one role of many targets, made with python-tuf; and python-tuf's own client on it.

usage: role.py make FOLDER TARGETS      writes FOLDER/metadata and FOLDER/root.json, RSA-3072 everywhere
       role.py refresh URL METADATA     what `patchsync tuf … refresh` does; METADATA holds root.json
"""
import datetime, hashlib, os, sys


def make(folder, count):
    from cryptography.hazmat.primitives.asymmetric import rsa
    from securesystemslib.signer import CryptoSigner
    from tuf.api.metadata import Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp
    expires = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(days=7)
    signer = CryptoSigner(rsa.generate_private_key(public_exponent=65537, key_size=3072))
    root = Root(expires=expires, consistent_snapshot=True)
    for name in ('root', 'targets', 'snapshot', 'timestamp'):
        root.add_key(signer.public_key, name)
    targets = Targets(expires=expires)
    for i in range(int(count)):
        path = f'production/assets/module-{i:05}.js'
        digest = hashlib.sha256(path.encode()).hexdigest()
        targets.targets[path] = TargetFile(length=1000 + i, hashes={'sha256': digest}, path=path)
    os.makedirs(f'{folder}/metadata')

    def write(signed, name):
        metadata = Metadata(signed)
        metadata.sign(signer)
        data = metadata.to_bytes()
        with open(f'{folder}/metadata/{name}', 'wb') as file:
            file.write(data)
        return MetaFile(1, len(data), {'sha256': hashlib.sha256(data).hexdigest()})

    snapshot = Snapshot(expires=expires, meta={'targets.json': write(targets, '1.targets.json')})
    timestamp = Timestamp(expires=expires, snapshot_meta=write(snapshot, '1.snapshot.json'))
    write(timestamp, 'timestamp.json')
    write(root, '1.root.json')
    os.link(f'{folder}/metadata/1.root.json', f'{folder}/root.json')


def refresh(url, metadata):
    from tuf.ngclient import Updater
    with open(f'{metadata}/root.json', 'rb') as file:
        Updater(metadata, url, bootstrap=file.read()).refresh()


globals()[sys.argv[1]](*sys.argv[2:])
