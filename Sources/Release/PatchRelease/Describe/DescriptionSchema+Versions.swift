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
                  "description": "The security problem in short, for the person who approves the version. One line.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 2000,
                  "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$"
                },
                "url": {
                  "description": "The address of the full advisory.",
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
                  "description": "The share of devices that may install it: a percentage of at most two decimals, or ten-thousandths (1000 is 10%).",
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
                  "description": "Comparators of the native app's version, all of which must match: >=2.1 <3.",
                  "type": "string",
                  "pattern": "^(>=|<=|!=|>|<|=)[0-9]{1,9}(\\.[0-9]{1,9}){0,7}( (>=|<=|!=|>|<|=)[0-9]{1,9}(\\.[0-9]{1,9}){0,7})*$"
                },
                "condition": {
                  "description": "A condition on the device's data: region==eu&&ismale==1. && binds tighter than ||; there are no parentheses.",
                  "type": "string",
                  "pattern": "^[^()]*$"
                },
                "users": {
                  "description": "Users by id, or by the hash of the id.",
                  "type": "array",
                  "items": {
                    "type": "string",
                    "minLength": 1
                  }
                },
                "dial": {
                  "description": "required: no device installs it before the server's dial names it.",
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
