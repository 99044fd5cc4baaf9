"""Asks again what a judge asked, in the name of somebody else.

usage: replay.py URL HAR [TOKEN…]

HAR is what the judge recorded. With several tokens one after the other is shown, for each may ask only so often; with none,
none. Prints a line for each answer above 499, and for each 2xx to a request that would change something; then how many
requests had which status. What devices ask has no token and is left out of that.
"""
import collections, http.client, json, sys

url, har, tokens = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(har) as file:
    entries = json.load(file)['log']['entries']
link = http.client.HTTPConnection('127.0.0.1', int(url.rsplit(':', 1)[1]), timeout=30)
statuses = collections.Counter()
for number, entry in enumerate(entries):
    asked = entry['request']
    fields = {one['name']: one['value'] for one in asked['headers']
              if one['name'].lower() not in ('authorization', 'host', 'connection', 'content-length', 'accept-encoding')}
    if tokens:
        fields['Authorization'] = 'Bearer ' + tokens[number % len(tokens)]
    target = '/' + asked['url'].split('/', 3)[3]
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
    is_change = asked['method'] not in ('GET', 'HEAD') and not target.split('?')[0].endswith('/answer')
    if answer.status > 499 or (200 <= answer.status < 300 and is_change):
        print(answer.status, asked['method'], target)
print(*(f'{status}: {count}' for status, count in sorted(statuses.items())), sep=', ')
