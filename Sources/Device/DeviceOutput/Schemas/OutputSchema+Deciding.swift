extension OutputSchema {
    /// What people decided on a device: members of `properties` of `status`, indented as they are there.
    static let decidingProperties = #"""
        "policy": {
              "type": "object",
              "description": "What the owner decided about new versions.",
              "required": ["consent", "postponeLimit", "windows", "windowZone"],
              "properties": {
                "consent": {
                  "enum": ["automatic", "security", "ask"],
                  "description": "Which come without asking: all, those that close a security hole, none."
                },
                "postponeLimit": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "How long they may be put off in a row, in seconds."
                },
                "windows": {
                  "type": "array",
                  "items": {"type": "string"},
                  "description": "The hours in which they start: `mon-fri 02:00-04:00`; none: at any time."
                },
                "windowZone": {"type": "string", "description": "The clock of these hours: UTC, +01:00, Europe/Berlin, local."}
              }
            },
            "hold": {
              "type": "object",
              "description": "Why what waits does not start yet.",
              "required": ["code", "until"],
              "properties": {
                "code": {
                  "enum": ["postponed", "window", "zoneUnreadable"],
                  "description": "postponed: somebody put it off; window: it is outside the owner's hours; \#
        zoneUnreadable: the time zone of these hours cannot be read, and is tried again at `until`."
                },
                "until": {"$ref": "#/$defs/time"}
              }
            },
            "windowZoneFault": {
              "type": "string",
              "description": "Why the time zone of the windows cannot be read; new versions wait meanwhile."
            },
            "postponed": {
              "type": "object",
              "description": "Somebody put off whatever is new.",
              "required": ["since", "until"],
              "properties": {
                "since": {"$ref": "#/$defs/time", "description": "When the first in a row was asked for."},
                "until": {"$ref": "#/$defs/time"}
              }
            },
            "security": {
              "type": "array",
              "description": "Listed versions above what is installed that close a security hole.",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "security"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "security": {
                    "type": "object",
                    "required": ["text"],
                    "properties": {"text": {"type": "string"}, "url": {"type": "string"}}
                  }
                }
              }
            }
        """#
}
