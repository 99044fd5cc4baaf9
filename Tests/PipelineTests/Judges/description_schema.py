"""Says of each document whether a JSON schema takes it.

usage: description_schema.py SCHEMA DOCUMENT...          a line each: `ok` or `refused: WHY`
"""
import json, sys
import jsonschema_rs

with open(sys.argv[1], 'rb') as file:
    schema = json.load(file)
jsonschema_rs.meta.validate(schema)
validator = jsonschema_rs.validator_for(schema)
for name in sys.argv[2:]:
    with open(name, 'rb') as file:
        error = next(iter(validator.iter_errors(json.load(file))), None)
    print('ok' if error is None else f'refused: {error.message}')
