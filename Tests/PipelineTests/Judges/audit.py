"""Checks an exported audit log after the page `Formats`, "The audit log", and after nothing else.

usage: audit.py FILE

Prints `COUNT HEAD`, or `line N: RULE` for the first line that breaks one.
"""
import hashlib, json, sys


def canonical(value):
    if isinstance(value, str):
        return b'"' + value.encode().replace(b'\\', b'\\\\').replace(b'"', b'\\"') + b'"'
    if isinstance(value, list):
        return b'[' + b','.join(map(canonical, value)) + b']'
    if isinstance(value, dict):
        return b'{' + b','.join(canonical(key) + b':' + canonical(value[key]) for key in sorted(value, key=str.encode)) + b'}'
    return json.dumps(value).encode()


count, previous = 0, '0' * 64
for count, line in enumerate(open(sys.argv[1], 'rb'), 1):
    entry = json.loads(line)
    digest = entry.pop('hash')
    for rule, holds in [
        ('number', entry['number'] == count), ('previous', entry['previous'] == previous),
        ('hash', hashlib.sha256(b'patchline-audit-v1\n' + canonical(entry)).hexdigest() == digest),
    ]:
        if not holds:
            sys.exit(print('line %d: %s' % (count, rule)) or 1)
    previous = digest
print(count, previous)
