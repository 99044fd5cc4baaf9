"""Asks again what a judge asked, in the name of somebody else.

usage: replay.py URL HAR PART OF [TOKEN]

HAR is what the judge recorded, of which each OFth request is asked, from number PART on: there are hundreds of each kind, one
after the other. Prints a line for each answer above 499, and for each 2xx to a request that would change something; then how many
requests had which status.
"""
import collections, http.client, json, sys

url, har, part, of, token = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4]), (sys.argv[5:] + [None])[0]
with open(har) as file:
    entries = json.load(file)['log']['entries']
link = http.client.HTTPConnection('127.0.0.1', int(url.rsplit(':', 1)[1]), timeout=300)
statuses = collections.Counter()
for entry in entries[part::of]:
    asked = entry['request']
    fields = {one['name']: one['value'] for one in asked['headers']
              if one['name'].lower() not in ('authorization', 'host', 'connection', 'content-length', 'accept-encoding')}
    if token:
        fields['Authorization'] = 'Bearer ' + token
    target = '/' + asked['url'].split('/', 3)[3]
    if target.split('?')[0].endswith('/identity'):
        # Clients ask it before they send a token.
        continue
    body = asked.get('postData', {}).get('text')
    try:
        link.request(asked['method'], target, body and body.encode(), fields)
    except ValueError:
        # No request can carry such a field.
        link.close()
        continue
    answer = link.getresponse()
    answer.read()
    statuses[answer.status] += 1
    is_change = asked['method'] not in ('GET', 'HEAD')
    if answer.status > 499 or (200 <= answer.status < 300 and is_change):
        print(answer.status, asked['method'], target)
print(*(f'{status}: {count}' for status, count in sorted(statuses.items())), sep=', ')
