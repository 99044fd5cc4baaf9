"""python-tuf's own client as a reader of our tree.

usage: ngclient.py APP_URL ROOT_JSON FOLDER CHANNEL          FOLDER keeps what is trusted for the next time

Prints each listed patch and, for bundles, the number of assets in the manifest; `refused: ERROR` and 3 when the client does.
"""
import json, os, sys
from tuf.api.exceptions import DownloadError, RepositoryError
from tuf.ngclient import Updater

url, root, folder, channel = sys.argv[1:]
os.makedirs(folder + '/metadata', exist_ok=True)
os.makedirs(folder + '/targets', exist_ok=True)
try:
    with open(root, 'rb') as file:
        updater = Updater(folder + '/metadata', url + '/metadata/', folder + '/targets', url + '/targets/', bootstrap=file.read())
    updater.refresh()

    def get(path):
        info = updater.get_targetinfo(path)
        if info is None:
            raise RepositoryError(f'no target {path}')
        with open(updater.download_target(info), 'rb') as file:
            return file.read()

    for patch in json.loads(get(f'{channel}/patchlist.json'))['patches']:
        line = f"{patch['patchId']} {patch['version']}"
        if patch['kind'] == 'bundle':
            base = f"{channel}/{patch['patchId']}/{patch['version']}"
            assets = json.loads(get(f'{base}/manifest.json'))['assets']
            line += f": {len(assets)} assets, column of {len(get(f'{base}/manifest.sigs'))} bytes"
        print(line)
except (RepositoryError, DownloadError) as error:
    print(f'refused: {type(error).__name__}: {error}')
    sys.exit(3)
