extension DescriptionSchema {
    /// The members of a version besides its files, a part of the definitions in ``text``.
    static let versions = #"""
            "security": {
              "type": "object",
              "required": [
                "text"
              ],
              "additionalProperties": false,
              "properties": {
                "text": {
                  "description": "What whoever decides about the version must know of it, on one line.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 2000,
                  "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$"
                },
                "url": {
                  "description": "Where the whole advisory stands.",
                  "type": "string",
                  "maxLength": 2048,
                  "pattern": "^https://[^/?#@:][^/?#@]*([/?#].*)?$"
                }
              }
            },
            "rules": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "rollout": {
                  "description": "How many devices may take it: a percentage of at most two decimals, or ten-thousandths (1000 is 10%).",
                  "default": "100%",
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 10000
                    },
                    {
                      "type": "string",
                      "pattern": "^(100(\\.0{1,2})?|[0-9]{1,2}(\\.[0-9]{1,2})?)%$"
                    }
                  ]
                },
                "appVersion": {
                  "description": "Comparators of the native app's version, all of which must hold: >=2.1 <3.",
                  "type": "string",
                  "pattern": "^(>=|<=|!=|>|<|=)[0-9]{1,9}(\\.[0-9]{1,9}){0,7}( (>=|<=|!=|>|<|=)[0-9]{1,9}(\\.[0-9]{1,9}){0,7})*$"
                },
                "condition": {
                  "description": "A condition on what the device was told: region==eu&&ismale==1. && binds tighter than ||; there are no parentheses.",
                  "type": "string",
                  "pattern": "^[^()]*$"
                },
                "users": {
                  "description": "Users by id, or by the hash that a list holds.",
                  "type": "array",
                  "items": {
                    "type": "string",
                    "minLength": 1
                  }
                },
                "dial": {
                  "description": "required: no device takes it before the server's dial speaks of it.",
                  "enum": [
                    "optional",
                    "required"
                  ],
                  "default": "optional"
                },
                "mandatory": {
                  "description": "It starts at once under a running app.",
                  "type": "boolean",
                  "default": false
                },
                "runAtNextLaunch": {
                  "description": "It starts at the next launch, never by a reload.",
                  "type": "boolean",
                  "default": false
                }
              }
            }
        """#
}
