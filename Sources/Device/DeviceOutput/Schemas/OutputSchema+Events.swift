extension OutputSchema {
    /// A line of `patchsync serve --json`.
    static let eventsText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:patchline:patchsync:events:1",
          "title": "patchsync serve --json",
          "description": "One line of the stream: an object each. Events may be added; a reader passes over \#
        those that it does not know.",
          "type": "object",
          "required": ["event"],
          "oneOf": [
            {
              "type": "object",
              "description": "Pages are served. With --url-file the URL, which holds the access token, stands \#
        in that file alone; in a systemd journal it stands nowhere.",
              "required": ["event", "port"],
              "properties": {
                "event": {"const": "listening"},
                "url": {"type": "string"},
                "origin": {"type": "string"},
                "urlFile": {"type": "string"},
                "port": {"type": "integer", "minimum": 1}
              }
            },
            {
              "type": "object",
              "description": "Nothing runs; a page shows how far the first version has come.",
              "required": ["event"],
              "properties": {"event": {"const": "nothingInstalled"}}
            },
            {
              "type": "object",
              "description": "This selection is served; on trial where there is a launch.",
              "required": ["event", "patches", "selection"],
              "properties": {
                "event": {"const": "serving"},
                "patches": {"type": "array", "items": {"$ref": "#/$defs/version"}},
                "launch": {"$ref": "#/$defs/launch"},
                "selection": {"type": "integer", "minimum": 1, "description": "Its number on this device."}
              }
            },
            {
              "type": "object",
              "description": "The trial is kept.",
              "required": ["event", "patches"],
              "properties": {
                "event": {"const": "confirmed"},
                "patches": {"type": "array", "items": {"$ref": "#/$defs/version"}}
              }
            },
            {
              "type": "object",
              "description": "A trial that did not confirm in time, or somebody, took it back; without `to` there is nothing to go back to.",
              "required": ["event", "from"],
              "properties": {
                "event": {"const": "rolledBack"},
                "to": {"type": "array", "items": {"$ref": "#/$defs/version"}},
                "from": {"type": "array", "items": {"$ref": "#/$defs/version"}},
                "reason": {"enum": ["startupTimer", "launchLimit", "scriptFailed", "byHand"]},
                "why": {"type": "string", "description": "The reason in words."},
                "pageError": {"$ref": "#/$defs/pageError"}
              }
            },
            {
              "type": "object",
              "description": "The first version did not confirm in time, and stays, for there is nothing to \#
        go back to.",
              "required": ["event", "patches"],
              "properties": {
                "event": {"const": "unproven"},
                "patches": {"type": "array", "items": {"$ref": "#/$defs/version"}}
              }
            },
            {
              "type": "object",
              "description": "The trial ended without a result: a sync chose another selection before it was decided.",
              "required": ["event", "patches", "by"],
              "properties": {
                "event": {"const": "superseded"},
                "patches": {"type": "array", "items": {"$ref": "#/$defs/version"}},
                "by": {
                  "type": "array",
                  "items": {"$ref": "#/$defs/version"},
                  "description": "The selection in its place; empty if the trial was removed without another."
                }
              }
            },
            {
              "type": "object",
              "description": "Gone by this launch.",
              "required": ["event", "patches"],
              "properties": {
                "event": {"const": "withdrawn"},
                "patches": {"type": "array", "items": {"type": "string", "description": "An id."}}
              }
            },
            {
              "type": "object",
              "description": "Another process chose another channel.",
              "required": ["event", "channel"],
              "properties": {"event": {"const": "following"}, "channel": {"type": "string"}}
            },
            {
              "type": "object",
              "description": "Files that are not served until a sync heals them.",
              "required": ["event", "files"],
              "properties": {
                "event": {"const": "damaged"},
                "files": {"type": "array", "items": {"type": "string"}}
              }
            },
            {
              "type": "object",
              "description": "A script failed in a page, or was not loaded by one; on trial what runs is rolled \#
        back next.",
              "required": ["event", "patchId", "version", "fault", "message", "line", "column"],
              "properties": {
                "event": {"const": "scriptFailed"},
                "patchId": {"type": "string"},
                "version": {"type": "string"},
                "fault": {"enum": ["threw", "unloaded"]},
                "message": {"type": "string", "description": "As the browser words it."},
                "line": {"type": "integer", "minimum": 0, "description": "From 1; 0 where nobody knows."},
                "column": {"type": "integer", "minimum": 0}
              }
            },
            {
              "type": "object",
              "description": "A page that scripts are for came without them.",
              "required": ["event", "page", "reason"],
              "properties": {
                "event": {"const": "scriptsLeftOut"},
                "page": {"type": "string", "description": "Its path."},
                "reason": {"type": "string", "description": "In words that follow `it`."}
              }
            },
            {
              "type": "object",
              "description": "A page of another version stays on the screen: a service worker or another cache keeps it.",
              "required": ["event"],
              "properties": {
                "event": {"const": "stalePage"},
                "version": {"type": "string", "description": "Of that page, if known."}
              }
            },
            {
              "type": "object",
              "description": "With --scripts: how the active script patches do on a sample host.",
              "required": ["event", "patches"],
              "properties": {
                "event": {"const": "scripts"},
                "patches": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "required": ["patchId", "version", "state"],
                    "properties": {
                      "patchId": {"type": "string"},
                      "version": {"type": "string"},
                      "state": {"enum": ["Success", "FileNotExist", "FileNotMatch", "UnKnownError"]},
                      "failure": {"type": "string"}
                    }
                  }
                }
              }
            },
            {
              "type": "object",
              "description": "What runs has no bundle of the name that --bundle says.",
              "required": ["event", "bundle", "bundles"],
              "properties": {
                "event": {"const": "bundleMissing"},
                "bundle": {"type": "string"},
                "bundles": {"type": "array", "items": {"type": "string"}}
              }
            },
            {
              "type": "object",
              "description": "The online parameters are others.",
              "required": ["event", "channel", "parameters"],
              "properties": {
                "event": {"const": "parameters"},
                "channel": {"type": "string"},
                "parameters": {
                  "type": "object",
                  "additionalProperties": {"type": ["string", "integer", "boolean"]}
                }
              }
            },
            {
              "type": "object",
              "description": "A sync is over.",
              "required": ["event", "roleVersion", "isNew"],
              "properties": {
                "event": {"const": "synced"},
                "roleVersion": {"type": "integer", "minimum": 1},
                "isNew": {"type": "boolean", "description": "Whether something new waits."},
                "awaiting": {
                  "type": "array",
                  "description": "Versions that wait for somebody's approval.",
                  "items": {
                    "type": "object",
                    "required": ["patchId", "version"],
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
                },
                "putOff": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "required": ["patchId", "version", "exact", "left"],
                    "properties": {
                      "patchId": {"type": "string"},
                      "version": {"type": "string"},
                      "bytes": {"type": "integer", "minimum": 0},
                      "exact": {"type": "boolean"},
                      "cost": {"type": "integer", "minimum": 0},
                      "left": {"type": "integer", "minimum": 0},
                      "with": {"type": "array", "items": {"type": "string"}}
                    }
                  },
                  "description": "Versions that wait for a network that is not metered, as in `sync`."
                }
              }
            },
            {
              "type": "object",
              "description": "state.json could not be read.",
              "required": ["event", "file", "error", "standby"],
              "properties": {
                "event": {"const": "stateFault"},
                "file": {"type": "string"},
                "error": {"type": "string"},
                "standby": {"enum": ["previous", "embedded", "nothing"]}
              }
            },
            {
              "type": "object",
              "description": "A version does not fit on the disk. The served version stays.",
              "required": ["event", "patchId", "version", "needs", "free", "reserve"],
              "properties": {
                "event": {"const": "noRoom"},
                "patchId": {"type": "string"},
                "version": {"type": "string"},
                "needs": {"type": "integer", "minimum": 0, "description": "Bytes that it still needs on the disk."},
                "free": {"type": "integer", "minimum": 0},
                "reserve": {"type": "integer", "minimum": 0, "description": "Bytes that downloads leave free."}
              }
            },
            {
              "type": "object",
              "description": "Lines that could not be written before this one: the disk was full, or the reader was gone.",
              "required": ["event", "count"],
              "properties": {"event": {"const": "linesLost"}, "count": {"type": "integer", "minimum": 1}}
            },
            {
              "type": "object",
              "description": "In words; what is served stays.",
              "required": ["event", "error"],
              "properties": {"event": {"const": "trouble"}, "error": {"type": "string"}}
            }
          ],
          "$defs": {
            \#(pageError),
            "launch": {
              "type": "string",
              "description": "The token of a launch on trial, for `patchsync confirm`.",
              "pattern": "^[0-9a-f]{32}$"
            },
            "version": {
              "type": "object",
              "required": ["patchId", "version"],
              "properties": {"patchId": {"type": "string"}, "version": {"type": "string"}}
            }
          }
        }
        """#
}
