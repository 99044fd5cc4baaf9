extension OutputSchema {
    /// `patchsync sync --json`.
    static let syncText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:patchline:patchsync:sync:1",
          "title": "patchsync sync --json",
          "description": "What a sync came to; one document, also with the exit codes 3 and 9. Where nothing \#
        could be judged it is that of `patchsync schema error`. Members may be added.",
          "type": "object",
          "required": [
            "roleVersion",
            "staging",
            "files",
            "bytes",
            "patches",
            "healed",
            "refused",
            "failures",
            "decisions"
          ],
          "properties": {
            "roleVersion": {
              "type": "integer",
              "minimum": 1,
              "description": "The release of the channel that was seen."
            },
            "staging": {
              "enum": ["staged", "unchanged", "unstaged", "trialRunning", "superseded", "refused"],
              "description": "staged: something new waits; unchanged: what is listed runs or waits already; \#
        unstaged: what waited is no longer offered; trialRunning: nothing is staged before a trial is \#
        decided; superseded: what runs changed meanwhile, sync again; refused: it could not be written down."
            },
            "stagingError": {"type": "string", "description": "Why it was refused."},
            "stateFault": {"$ref": "#/$defs/stateFault"},
            "activates": {"$ref": "#/$defs/activates"},
            "files": {"type": "integer", "minimum": 0, "description": "Objects that travelled."},
            "bytes": {"type": "integer", "minimum": 0, "description": "Their bytes."},
            "transferred": {
              "type": "integer",
              "minimum": 0,
              "description": "The bytes of these files that came over the line, mostly compressed, and of those \#
        that were given up."
            },
            "packs": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "from", "bytes", "estimate"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "from": {"type": "string", "description": "The version that was here."},
                  "through": {
                    "type": "string",
                    "description": "The version between the two, where two packs led here one after the other."
                  },
                  "bytes": {"type": "integer", "minimum": 0, "description": "Of the packs."},
                  "estimate": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "About what would have travelled without it."
                  }
                }
              },
              "description": "Bundles that came by a pack from a version that was here."
            },
            "patches": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "states", "meaning"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "states": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/patchState"},
                    "description": "One after the other.",
                    "minItems": 1
                  },
                  "meaning": {"$ref": "#/$defs/meaning"},
                  "fault": {"$ref": "#/$defs/fault"},
                  "file": {"$ref": "#/$defs/file"}
                }
              }
            },
            "healed": {
              "type": "array",
              "items": {"type": "string"},
              "description": "Patches that were made whole again, as `web 1.0.0`."
            },
            "refused": {
              "type": "array",
              "items": {"type": "string"},
              "description": "Entries of the list whose signatures or digests do not hold, in words."
            },
            "failures": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "error"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "error": {"type": "string"}
                }
              },
              "description": "Patches that stay as they were."
            },
            "decisions": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "choice", "passedOver"],
                "properties": {
                  "patchId": {"type": "string"},
                  "choice": {"enum": ["take", "keep", "none", "withdraw"]},
                  "version": {"type": "string", "description": "Of what is taken, kept or withdrawn."},
                  "goesBackTo": {
                    "type": "string",
                    "description": "The version that takes the place of one that was withdrawn by name."
                  },
                  "server": {"enum": ["chosen", "forced"]},
                  "passedOver": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["version", "code", "why"],
                      "properties": {
                        "version": {"type": "string"},
                        "code": {"$ref": "#/$defs/reason"},
                        "why": {"type": "string", "description": "In words."}
                      }
                    }
                  }
                }
              },
              "description": "What becomes of each patch of the list."
            },
            "keptEmbedded": {
              "type": "integer",
              "minimum": 1,
              "description": "The release that the app ships, where the list is not above it: nothing was \#
        taken."
            },
            "unanswered": {"type": "string", "description": "Why a question to the server got no answer."},
            "ignoredAnswers": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "why"],
                "properties": {"patchId": {"type": "string"}, "why": {"type": "string"}}
              }
            },
            "mirrors": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["server", "what", "why"],
                "properties": {
                  "server": {"type": "string"},
                  "what": {"enum": ["failed", "stale", "lied"]},
                  "why": {"type": "string"}
                }
              },
              "description": "Servers that were asked in vain, were behind, or sent what nobody signed."
            },
            "parameters": {
              "enum": ["changed", "removed", "kept"],
              "description": "kept: the last good ones, because of `parametersError`."
            },
            "parametersError": {"type": "string"},
            "staleMirror": {
              "type": "object",
              "description": "The server's timestamp is older than one that this device knows; nothing was \#
        taken from it.",
              "required": ["offered", "known", "overdue"],
              "properties": {
                "offered": {"type": "integer", "minimum": 1},
                "known": {"type": "integer", "minimum": 1},
                "overdue": {"type": "boolean", "description": "Whether it has lasted for a day."}
              }
            }
          },
          "$defs": {
            \#(definitions)
          }
        }
        """#
}
