extension OutputSchema {
    /// What a command prints with `--json` when it fails.
    static let errorText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:patchline:patchsync:error:1",
          "title": "A command with --json that failed",
          "description": "One document on standard output, besides the sentence on standard error.",
          "type": "object",
          "required": ["error"],
          "properties": {
            "error": {
              "type": "object",
              "required": ["message", "kind", "exitCode"],
              "properties": {
                "message": {"type": "string"},
                "hint": {"type": "string"},
                "kind": {
                  "type": "string",
                  "description": "The exit code's name: failed, refused, malformed, network, disk, busy, \#
        conflict, usage, interrupted; more may come.",
                  "pattern": "^[a-z]+$"
                },
                "exitCode": {"type": "integer", "minimum": 1, "description": "As the process ends with."}
              }
            }
          }
        }
        """#
}
