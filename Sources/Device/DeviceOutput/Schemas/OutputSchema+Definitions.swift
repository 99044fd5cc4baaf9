extension OutputSchema {
    /// The first error of a page on trial.
    static let pageError = #"""
        "pageError": {
              "type": "object",
              "description": "The first error of a page on trial, or of a script, as the browser words it.",
              "required": ["message", "line", "column"],
              "properties": {
                "message": {"type": "string", "maxLength": 300},
                "source": {"type": "string", "maxLength": 200, "description": "The script's path."},
                "line": {"type": "integer", "minimum": 0, "description": "From 1; 0 if unknown."},
                "column": {"type": "integer", "minimum": 0}
              }
            }
        """#

    /// The failure of the last sync, in `status` and `explain`.
    static let syncFailure = #"""
        "syncFailure": {
              "type": "object",
              "description": "The last sync failed; missing after a successful one.",
              "required": ["at", "since", "inARow", "code", "reason", "error"],
              "properties": {
                "at": {"$ref": "#/$defs/time", "description": "Of the last failure."},
                "since": {"$ref": "#/$defs/time", "description": "Of the first failure of this row."},
                "inARow": {"type": "integer", "minimum": 1, "description": "How many syncs failed one after the other."},
                "code": {
                  "enum": [
                    "diskFull", "noRoom", "notWritable", "diskFailed", "storeDamaged", "nameUnknown", "noConnection",
                    "noAnswer", "busy", "webPage", "redirected", "noHTTP", "certificateName", "certificateUntrusted",
                    "certificateExpired", "certificateEarly", "pinned", "noTLS", "serverFailed", "notFound", "altered",
                    "rolesExpired", "serverBehind", "noChannel", "channelRetired", "other"
                  ]
                },
                "reason": {"type": "string", "description": "The code in words."},
                "error": {"type": "string", "description": "The error's sentence."},
                "patchId": {"type": "string", "description": "The version that could not be fetched, if the sync itself went on."},
                "version": {"type": "string"}
              }
            }
        """#

    /// What the documents of `status` and `sync` both define, below `$defs`.
    ///
    /// Its lines but the first are indented as they are there.
    static let definitions = #"""
        "patchState": {
              "enum": ["UnKnownError", "UnInstall", "Success", "FileNotExist", "FileNotMatch", "Update", "Add"],
              "description": "UnKnownError: the bytes are there and unusable; UnInstall: downloaded, and \#
        waits for its start; Success: installed; FileNotExist: a file is missing; FileNotMatch: a file is \#
        altered; Update: listed with other bytes than the installed ones; Add: new in the list."
            },
            "meaning": {"type": "string", "description": "The state in plain words, for people."},
            "file": {
              "type": "string",
              "description": "Of a script that is as it should be: the file that holds the signed bytes, \#
        absolute."
            },
            "fault": {
              "type": "string",
              "description": "The file that is wrong, and how; the next sync heals it."
            },
            "activates": {
              "enum": ["atOnce", "anyTime", "atReload", "atNextLaunch"],
              "description": "When what waits starts: at once under a running `serve`; at any moment (only \#
        scripts are new); at a reload, `switch` or launch; at the next launch and not before."
            },
            "stateFault": {
              "type": "object",
              "description": "state.json could not be read.",
              "required": ["file", "error", "standby"],
              "properties": {
                "file": {"type": "string"},
                "error": {"type": "string", "description": "In words."},
                "standby": {
                  "enum": ["previous", "embedded", "nothing"],
                  "description": "What the device goes by in its place."
                }
              }
            },
            "reason": {
              "type": "string",
              "description": "The rule that keeps it away: rollout, paused, dialMissing, appVersion, \#
        condition, users, unknownRule, waiting, blocked, rolledBackByHand, transferWaiting, notReceived, metered, \#
        incompatible, republished, unmet, breaks, noPlace, held, notChosen, unapproved; more may come.",
              "pattern": "^[a-zA-Z]+$"
            }
        """#
}
