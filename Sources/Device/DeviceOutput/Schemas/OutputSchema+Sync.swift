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
            \#(putOffProperty),
            \#(noRoomProperty),
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
            \#(choiceProperties),
            "unanswered": {"type": "string", "description": "Why a question to the server got no answer."},
            \#(serverProperties),
            "parameters": {
              "enum": ["changed", "removed", "kept"],
              "description": "kept: the last good ones, because of `parametersError`."
            },
            "parametersError": {"type": "string"},
            \#(staleProperty)
          },
          "$defs": {
            \#(definitions)
          }
        }
        """#
}
