extension OutputSchema {
    // What the documents of `sync` and of its dry run both tell of an offer: members of `properties`, indented as the
    // definitions are.

    /// What becomes of each patch.
    static let choiceProperties = #"""
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
            }
        """#

    /// What servers did.
    static let serverProperties = #"""
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
            }
        """#

    /// A server that is behind.
    static let staleProperty = #"""
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
        """#

    /// Versions that do not fit on the disk.
    static let noRoomProperty = #"""
        "noRoom": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "needs", "free", "reserve"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "needs": {"type": "integer", "minimum": 0, "description": "Bytes that it still needs on the disk."},
                  "free": {"type": "integer", "minimum": 0, "description": "Bytes that are free."},
                  "reserve": {"type": "integer", "minimum": 0, "description": "Bytes that downloads leave free."}
                }
              },
              "description": "Versions that do not fit on the disk."
            }
        """#

    /// What waits for another network.
    static let putOffProperty = #"""
        "putOff": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "exact", "left"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "bytes": {"type": "integer", "minimum": 0, "description": "What would come of it alone."},
                  "exact": {"type": "boolean", "description": "Whether a server says that it is `bytes`."},
                  "cost": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Of all that has to come together; missing where nobody can say."
                  },
                  "left": {"type": "integer", "minimum": 0, "description": "What was left of the allowance."},
                  "with": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "description": "The ids that have to come with it."
                  }
                }
              },
              "description": "Versions that wait for a network that is not metered."
            }
        """#
}
