extension DescriptionSchema {
    /// The packages for JSPatch's clients, a part of the properties in ``text``.
    static let packages = #"""
            "jspatch": {
              "description": "Packages of its scripts for apps that have JSPatch's loader or its platform's client in them.",
              "type": "object",
              "required": [
                "scripts",
                "appVersions"
              ],
              "additionalProperties": false,
              "anyOf": [
                {
                  "required": ["loader"],
                  "properties": {
                    "loader": {
                      "const": true
                    }
                  }
                },
                {
                  "required": ["platform"]
                }
              ],
              "properties": {
                "scripts": {
                  "description": "The name of each script in a package, and the patch whose newest version it is: {main.js: fix}.",
                  "type": "object",
                  "required": ["main.js"],
                  "maxProperties": 1000,
                  "propertyNames": {
                    "pattern": "^[^/]+\\.js$"
                  },
                  "additionalProperties": {
                    "$ref": "#/$defs/id"
                  }
                },
                "appVersions": {
                  "description": "The versions of the app that get packages, as the app calls itself: \"2.1\".",
                  "type": "array",
                  "minItems": 1,
                  "maxItems": 100,
                  "items": {
                    "type": "string",
                    "pattern": "^[0-9]{1,9}(\\.[0-9]{1,9}){0,7}$"
                  }
                },
                "loader": {
                  "description": "Whether there are packages of the loader.",
                  "type": "boolean",
                  "default": false
                },
                "platform": {
                  "description": "The app's key on the platform. Packages of the platform are made if it is set.",
                  "type": "string",
                  "pattern": "^[A-Za-z0-9]{1,64}$"
                },
                "after": {
                  "description": "The highest number that the previous server used.",
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999998,
                  "default": 0
                }
              }
            }
        """#
}
