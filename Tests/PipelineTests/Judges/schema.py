"""Holds what patchsync printed against the schemas that it prints.

usage: schema.py SCHEMA DOCUMENT...    a document is a file of JSON lines

Strict where readers are not: a member that the schema does not describe is a finding. Prints what was seen, a line each:
`NAME`, or `NAME=VALUE` where the schema lists the values.
"""
import json, sys
import jsonschema_rs


def close(schema):
    if isinstance(schema, dict):
        if 'properties' in schema:
            schema.setdefault('additionalProperties', False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def seen(value, path=''):
    if isinstance(value, dict):
        for name, member in value.items():
            yield f'{path}{name}'
            yield from seen(member, f'{path}{name}.')
            if isinstance(member, str) and name in words:
                yield f'{path}{name}={member}'
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, str) and path == 'patches.states.':
                yield f'{path[:-1]}={member}'
            yield from seen(member, path)


words = {'event', 'phase', 'staging', 'state', 'activates', 'choice', 'next', 'code', 'what', 'parameters', 'kind', 'standby',
         'task', 'way', 'consent'}
schema = json.load(open(sys.argv[1]))
validator = jsonschema_rs.validator_for(schema)
close(schema)
strict = jsonschema_rs.validator_for(schema)
found, findings = set(), 0
for name in sys.argv[2:]:
    for line in open(name):
        document = json.loads(line)
        for judge in (validator, strict):
            for error in judge.iter_errors(document):
                findings += 1
                print(f'finding: {name}: {error.message} in {line.strip()}')
        found.update(seen(document))
print('\n'.join(sorted(found)))
sys.exit(findings > 0)
