extension OutputSchema {
    /// `patchsync sync --dry-run --json`.
    static let dryRunText = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:patchline:patchsync:dry-run:1",
          "title": "patchsync sync --dry-run --json",
          "description": "What a sync would fetch, and what that costs; one document, also with the exit code 3. \#
        Nothing but metadata was fetched, and nothing else was changed. Members may be added.",
          "type": "object",
          "required": ["roleVersion", "metadata", "exact", "saved", "patches", "refused", "decisions"],
          "properties": {
            "roleVersion": {
              "type": "integer",
              "minimum": 1,
              "description": "The release of the channel that was seen."
            },
            "metadata": {
              "type": "integer",
              "minimum": 0,
              "description": "The bytes of metadata, list and pack indexes that came for this look."
            },
            "bytes": {
              "type": "integer",
              "minimum": 0,
              "description": "What would come of all patches together; missing where nobody can say it of one."
            },
            "exact": {"type": "boolean", "description": "Whether `bytes` is what servers say, and no estimate."},
            "saved": {
              "type": "integer",
              "minimum": 0,
              "description": "About the bytes that stay away because something is here already."
            },
            "patches": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["patchId", "kind", "version", "task", "way", "exact"],
                "properties": {
                  "patchId": {"type": "string"},
                  "kind": {"enum": ["script", "bundle"]},
                  "version": {"type": "string", "description": "The one that it would be at."},
                  "installed": {"type": "string", "description": "The one that it is at."},
                  "task": {
                    "enum": ["take", "heal", "keep", "putOff"],
                    "description": "take: the version is new here; heal: files of it are missing or wrong; keep: \#
        there is nothing to do; putOff: it waits for a network that is not metered, and does not count."
                  },
                  "way": {
                    "enum": ["none", "file", "packs", "whole", "parts", "objects", "open"],
                    "description": "none: all of it is here; file: the text of a script; packs: from a version that \#
        is here; whole: the pack of the whole bundle, or the rest of it; parts: the parts of that pack that hold the missing \#
        files; objects: the missing files, one by one; open: its manifest, which names the missing files."
                  },
                  "from": {"type": "string", "description": "The version that is here, which packs lead on from."},
                  "packs": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "How many, one after the other: the second from what the first makes."
                  },
                  "bytes": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "What would come of it; missing where nobody can say."
                  },
                  "exact": {
                    "type": "boolean",
                    "description": "Whether a server says so; else it is about as much, or at most with `open`."
                  },
                  "whole": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "About what all of it costs where nothing of it is here."
                  },
                  "saved": {"type": "integer", "minimum": 0}
                }
              },
              "description": "What a sync would stage, or make whole again."
            },
            \#(putOffProperty),
            \#(noRoomProperty),
            "trial": {
              "const": true,
              "description": "A trial runs: nothing new is taken before it is decided."
            },
            "unasked": {
              "const": true,
              "description": "A sync would ask the server for a place or a choice first, and may take other versions."
            },
            "refused": {
              "type": "array",
              "items": {"type": "string"},
              "description": "Entries of the list whose signatures or digests do not hold, in words."
            },
            \#(choiceProperties),
            \#(serverProperties),
            \#(staleProperty)
          },
          "$defs": {
            \#(definitions)
          }
        }
        """#
}
