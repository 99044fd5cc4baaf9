extension OutputSchema {
    /// `patchsync explain --json`.
    static let explainText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:patchline:patchsync:explain:1",
          "title": "patchsync explain --json",
          "description": "Why a device gets or does not get each listed version; one document. The page \#
        \"Why a device has what it has\" names every code. Members and codes may be added.",
          "type": "object",
          "required": ["app", "channel", "roleVersion", "at", "versions"],
          "properties": {
            "app": {"type": "string"},
            "channel": {"type": "string"},
            "roleVersion": {"type": "integer", "minimum": 1, "description": "The list that it goes by."},
            "at": {"$ref": "#/$defs/time", "description": "As if it were then."},
            "lastFailure": {"$ref": "#/$defs/syncFailure"},
            "versions": {
              "type": "array",
              "description": "Each listed version, or those that were asked for, in list order.",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "kind", "sha256", "outcome", "rules"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "kind": {"enum": ["script", "bundle"]},
                  "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                  "outcome": {
                    "type": "object",
                    "description": "What becomes of it.",
                    "required": ["code"],
                    "properties": {
                      "code": {"$ref": "#/$defs/code"},
                      "why": {"$ref": "#/$defs/code", "description": "Of passedOver: the first rule that says no."},
                      "text": {"type": "string", "description": "The same in words."},
                      "version": {"type": "string", "description": "The one that stands in its way or takes its place."},
                      "until": {"$ref": "#/$defs/time", "description": "It may start from then on."}
                    }
                  },
                  "rules": {
                    "type": "array",
                    "description": "The rules that it poses, in the order in which they are asked.",
                    "items": {
                      "type": "object",
                      "required": ["rule", "passes"],
                      "properties": {
                        "rule": {"$ref": "#/$defs/code"},
                        "passes": {"type": "boolean"},
                        "needs": {"type": "string", "description": "What the version asks for, in words."},
                        "has": {"type": "string", "description": "What the device has of it, in words."},
                        "code": {"$ref": "#/$defs/code", "description": "Why it does not pass."},
                        "turns": {
                          "type": "array",
                          "minItems": 1,
                          "description": "The smallest changes with which it would pass.",
                          "items": {
                            "type": "object",
                            "required": ["code"],
                            "properties": {
                              "code": {"$ref": "#/$defs/code"},
                              "appVersion": {"type": "string"},
                              "facts": {"type": "array", "items": {"type": "string"}},
                              "until": {"$ref": "#/$defs/time"},
                              "patchId": {"type": "string", "description": "What somebody would approve."},
                              "version": {"type": "string"},
                              "from": {"type": "integer", "description": "In devices of 10,000."},
                              "to": {"type": "integer", "description": "In devices of 10,000."},
                              "compatibility": {"type": "string"},
                              "rule": {"type": "string"},
                              "allowance": {"type": "integer", "minimum": 0, "description": "In bytes."}
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          },
          "$defs": {
            \#(syncFailure),
            "code": {"type": "string", "pattern": "^[a-zA-Z]+$"},
            "time": {
              "type": "string",
              "description": "RFC 3339, in UTC, to the second.",
              "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
            }
          }
        }
        """#
}
