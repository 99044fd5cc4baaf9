extension OutputSchema {
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
