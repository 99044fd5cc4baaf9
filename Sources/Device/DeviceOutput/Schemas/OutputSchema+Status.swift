extension OutputSchema {
    /// `patchsync status --json`.
    static let statusText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:patchline:patchsync:status:1",
          "title": "patchsync status --json",
          "description": "Where a device stands; one document. Members may be added.",
          "type": "object",
          "required": [
            "app",
            "channel",
            "server",
            "phase",
            "host",
            "ownHost",
            "entrySignatures",
            "patches",
            "blocks",
            "transfers",
            "unfit",
            "passedOver"
          ],
          "properties": {
            "app": {"type": "string"},
            "channel": {"type": "string"},
            "server": {"type": "string"},
            "phase": {
              "enum": ["empty", "settled", "pending", "trying"],
              "description": "Nothing is installed; what runs is confirmed; something waits; what runs is on \#
        trial."
            },
            "lastSync": {"$ref": "#/$defs/time", "description": "The last sync that succeeded."},
            "lastFailure": {"$ref": "#/$defs/syncFailure"},
            "roleVersion": {
              "type": "integer",
              "minimum": 1,
              "description": "The release that the last sync saw."
            },
            "appBuild": {"type": "string"},
            "host": {
              "enum": ["own", "localhost", "127.0.0.1"],
              "description": "The name under which pages are served; an own one is a secret, and is not told."
            },
            "ownHost": {"type": "boolean", "description": "Whether that is a host of the app's own."},
            "reserve": {
              "type": "integer",
              "minimum": 0,
              "description": "Bytes of the disk that downloads leave free; absent for the standard."
            },
            "entrySignatures": {
              "enum": ["required", "manifest"],
              "description": "required: each entry of a bundle's manifest is checked by its own signature too; \#
        manifest: that of the list entry alone is."
            },
            "embedded": {
              "type": "object",
              "description": "What the app ships.",
              "required": ["folder", "running"],
              "properties": {
                "folder": {"type": "string"},
                "roleVersion": {"type": "integer", "minimum": 1},
                "running": {"type": "boolean", "description": "Whether it is what runs."}
              }
            },
            "launch": {"$ref": "#/$defs/launch"},
            "pageError": {"$ref": "#/$defs/pageError"},
            "unproven": {
              "const": true,
              "description": "What runs was not confirmed in its time and stays, for there is nothing to go \#
        back to."
            },
            "stateFault": {"$ref": "#/$defs/stateFault"},
            "damagedState": {
              "type": "string",
              "description": "A state that could not be read and was put by, to be looked at."
            },
            "livePages": {
              "type": "object",
              "description": "What is kept of live pages and of what they link to; bytes without records.",
              "required": ["pages", "pageBytes", "links", "linkBytes"],
              "properties": {
                "pages": {"type": "integer", "minimum": 0},
                "pageBytes": {"type": "integer", "minimum": 0},
                "links": {"type": "integer", "minimum": 0},
                "linkBytes": {"type": "integer", "minimum": 0}
              }
            },
            "patches": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "kind", "version", "state", "meaning", "pending"],
                "properties": {
                  "patchId": {"type": "string"},
                  "kind": {"enum": ["script", "bundle"]},
                  "version": {"type": "string"},
                  "state": {"$ref": "#/$defs/patchState"},
                  "meaning": {"$ref": "#/$defs/meaning"},
                  "fault": {"$ref": "#/$defs/fault"},
                  "pending": {"type": "boolean", "description": "Whether it waits in place of what runs."},
                  "file": {"$ref": "#/$defs/file"},
                  "runsIn": {
                    "enum": ["page", "both"],
                    "description": "Where the script runs; missing: in the app's own program."
                  },
                  "pages": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Patterns of the pages that get it; missing: all."
                  }
                }
              },
              "description": "What runs, and what waits in its place, by id."
            },
            "blocks": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "failures", "until", "reason", "code", "next"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "failures": {"type": "integer", "minimum": 1},
                  "until": {"$ref": "#/$defs/time"},
                  "reason": {"type": "string", "description": "Why, in words."},
                  "code": {
                    "enum": ["startupTimer", "launchLimit", "scriptFailed", "byHand"],
                    "description": "The same for programs."
                  },
                  "pageError": {"$ref": "#/$defs/pageError"},
                  "next": {
                    "enum": ["waits", "blocked", "free", "onTrial", "notListed"],
                    "description": "waits: taken after `until`, or by `sync --retry-failed`; blocked: taken \#
        after `until`, or after `unblock`; free: the next sync takes it; onTrial: it runs now; notListed: \#
        nothing takes it."
                  }
                }
              },
              "description": "Versions that failed here, or that somebody went back from."
            },
            "transfers": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "failures"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "failures": {"type": "integer", "minimum": 1},
                  "until": {"$ref": "#/$defs/time"}
                }
              },
              "description": "Versions that could not be fetched; without `until` the next sync tries again."
            },
            "unfit": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "platform", "compatibility"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "platform": {"type": "string"},
                  "compatibility": {"type": "string", "description": "This device's."},
                  "needs": {"type": "string", "description": "The version's."}
                }
              },
              "description": "Bundles for another native part."
            },
            "network": {
              "type": "object",
              "description": "How syncs use the network.",
              "required": ["metered", "allowance"],
              "properties": {
                "metered": {
                  "type": "boolean",
                  "description": "Whether bytes cost something: then what is mandatory comes, and what fits into \#
        `allowance`."
                },
                "allowance": {"type": "integer", "minimum": 0, "description": "In bytes, for each sync."},
                "limitRate": {"type": "integer", "minimum": 1000, "description": "The most bytes a second."}
              }
            },
            "putOff": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "bytes": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "What it would cost, as last known; missing where nobody could say."
                  }
                }
              },
              "description": "Versions that the last sync left for a network that is not metered."
            },
            \#(noRoomProperty),
            "withdrawn": {
              "type": "array",
              "description": "What runs and goes at the next launch.",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "named"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "named": {
                    "type": "boolean",
                    "description": "Whether a list withdrew this version by name; else its patch is listed no more."
                  },
                  "next": {"type": "string", "description": "The version that takes its place."}
                }
              }
            },
            "passedOver": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "version", "code", "why"],
                "properties": {
                  "patchId": {"type": "string"},
                  "version": {"type": "string"},
                  "code": {"$ref": "#/$defs/reason"},
                  "why": {"type": "string", "description": "In words."}
                }
              },
              "description": "Listed versions that are not for this device now."
            },
            "activates": {"$ref": "#/$defs/activates"},
            \#(decidingProperties),
            "debug": {
              "type": "object",
              "description": "With --debug.",
              "required": ["failuresInARow", "log"],
              "properties": {
                "versions": {
                  "type": "array",
                  "items": {"type": "object", "additionalProperties": true},
                  "description": "As `explain` tells them."
                },
                "lastError": {"$ref": "#/$defs/logLine"},
                "failuresInARow": {"type": "integer", "minimum": 0, "description": "Of syncs, since one was well."},
                "log": {"type": "array", "items": {"$ref": "#/$defs/logLine"}, "description": "The last lines."}
              }
            }
          },
          "$defs": {
            "time": {
              "type": "string",
              "description": "RFC 3339, in UTC, to the second.",
              "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
            },
            "logLine": {
              "type": "object",
              "description": "A line of `patchsync log --json`.",
              "required": ["at", "by", "type", "typeName", "event", "text"],
              "properties": {
                "at": {"$ref": "#/$defs/time"},
                "by": {"enum": ["sync", "serve", "run", "rollback", "switch", "approve", "postpone"], "description": "What wrote it: a command of patchsync."},
                "type": {"type": "integer", "minimum": 0, "description": "As the local socket numbers events."},
                "typeName": {"type": "string"},
                "event": {"type": "string"},
                "text": {"type": "string", "description": "In words."},
                "patchId": {"type": "string"},
                "version": {"type": "string"},
                "data": {"type": "object", "additionalProperties": true}
              }
            },
            "launch": {
              "type": "string",
              "description": "The token of a launch on trial, for `patchsync confirm`.",
              "pattern": "^[0-9a-f]{32}$"
            },
            \#(syncFailure),
            \#(pageError),
            \#(definitions)
          }
        }
        """#
}
