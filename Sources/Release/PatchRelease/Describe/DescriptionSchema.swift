/// The JSON schema of `release.yaml`, for editors: https://json-schema.org/draft/2020-12.
///
/// A schema cannot express some rules (existing files, the grammar of a condition, unique ids). `patchsign release --check`
/// checks these.
package enum DescriptionSchema {
    /// The content of `Patches/release.schema.json`, with its last line feed.
    package static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "Patchline release description (release.yaml)",
          "description": "The whole list of one channel, as patchsign release reads it.",
          "type": "object",
          "required": [
            "app",
            "channel",
            "patches"
          ],
          "additionalProperties": false,
          "properties": {
            "app": {
              "description": "The app's id, as root.json has it: com.example.storefront.",
              "$ref": "#/$defs/id"
            },
            "channel": {
              "description": "The channel: production, beta, or another that patchsign delegate made.",
              "type": "string",
              "pattern": "^(?!(root|targets|snapshot|timestamp|dial|mirrors)$)[a-z0-9]{1,32}$"
            },
            "patches": {
              "description": "The list of the channel, in this order.",
              "type": "array",
              "maxItems": 10000,
              "items": {
                "$ref": "#/$defs/patch"
              }
            },
            "hosts": {
              "description": "The interfaces of the programs that run its scripts, each as PatchHost.interface writes it (patchline-host-v1). Names that no interface has are warnings.",
              "type": "array",
              "maxItems": 100,
              "items": {
                "$ref": "#/$defs/path"
              }
            },
        \#(packages)
          },
          "$defs": {
            "id": {
              "type": "string",
              "pattern": "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$"
            },
            "path": {
              "type": "string",
              "minLength": 1,
              "maxLength": 1024,
              "pattern": "^(?!/)(?!(.*/)?\\.{1,2}(/|$))(?!.*//)(?!.*/$)[^\\\\\\u0000-\\u001f\\u007f]+$"
            },
            "patch": {
              "type": "object",
              "required": [
                "id",
                "kind",
                "version"
              ],
              "properties": {
                "kind": {
                  "enum": [
                    "script",
                    "bundle"
                  ]
                }
              },
              "allOf": [
                {
                  "if": {
                    "required": [
                      "kind"
                    ],
                    "properties": {
                      "kind": {
                        "const": "script"
                      }
                    }
                  },
                  "then": {
                    "required": [
                      "file"
                    ],
                    "properties": {
                      "id": {
                        "description": "The patch's name; once in a description.",
                        "$ref": "#/$defs/id"
                      },
                      "version": {
                        "description": "A label, published once. Quote a label that looks like a number: \"1.0\".",
                        "type": "string",
                        "pattern": "^(?!\\.{1,2}$)[A-Za-z0-9._+-]{1,64}$"
                      },
                      "rules": {
                        "description": "The devices that may install it. Default: all.",
                        "$ref": "#/$defs/rules"
                      },
                      "requires": {
                        "description": "Patches that move together with it or not at all, by version or SHA-256: {fix: [\"2\"]}.",
                        "type": "object",
                        "propertyNames": {
                          "$ref": "#/$defs/id"
                        },
                        "additionalProperties": {
                          "type": "array",
                          "minItems": 1,
                          "maxItems": 100,
                          "items": {
                            "type": "string",
                            "pattern": "^(?!\\.{1,2}$)[A-Za-z0-9._+-]{1,64}$"
                          }
                        }
                      },
                      "security": {
                        "description": "For a version that fixes a security problem: devices can be set to install only these automatically.",
                        "$ref": "#/$defs/security"
                      },
                      "keep": {
                        "description": "How many older versions of this id stay listed after it.",
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 100,
                        "default": 1
                      },
                      "kind": {
                        "const": "script"
                      },
                      "file": {
                        "description": "The JavaScript file, in UTF-8, in the folder of release.yaml.",
                        "$ref": "#/$defs/path"
                      },
                      "runsIn": {
                        "description": "Where it runs: in the app's own program, in its pages, before their own scripts, or in both.",
                        "enum": [
                          "host",
                          "page",
                          "both"
                        ],
                        "default": "host"
                      },
                      "pages": {
                        "description": "Paths of the pages that get it: /cart, /item/* (one segment), /docs/** (any rest). Default: every page.",
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 100,
                        "items": {
                          "type": "string",
                          "pattern": "^/"
                        }
                      }
                    },
                    "dependentSchemas": {
                      "pages": {
                        "required": [
                          "runsIn"
                        ],
                        "properties": {
                          "runsIn": {
                            "enum": [
                              "page",
                              "both"
                            ]
                          }
                        }
                      }
                    },
                    "additionalProperties": false
                  }
                },
                {
                  "if": {
                    "required": [
                      "kind"
                    ],
                    "properties": {
                      "kind": {
                        "const": "bundle"
                      }
                    }
                  },
                  "then": {
                    "required": [
                      "folder"
                    ],
                    "properties": {
                      "id": {
                        "description": "The patch's name; once in a description.",
                        "$ref": "#/$defs/id"
                      },
                      "version": {
                        "description": "A label, published once. Quote a label that looks like a number: \"1.0\".",
                        "type": "string",
                        "pattern": "^(?!\\.{1,2}$)[A-Za-z0-9._+-]{1,64}$"
                      },
                      "rules": {
                        "description": "The devices that may install it. Default: all.",
                        "$ref": "#/$defs/rules"
                      },
                      "requires": {
                        "description": "Patches that move together with it or not at all, by version or SHA-256: {fix: [\"2\"]}.",
                        "type": "object",
                        "propertyNames": {
                          "$ref": "#/$defs/id"
                        },
                        "additionalProperties": {
                          "type": "array",
                          "minItems": 1,
                          "maxItems": 100,
                          "items": {
                            "type": "string",
                            "pattern": "^(?!\\.{1,2}$)[A-Za-z0-9._+-]{1,64}$"
                          }
                        }
                      },
                      "security": {
                        "description": "For a version that fixes a security problem: devices can be set to install only these automatically.",
                        "$ref": "#/$defs/security"
                      },
                      "keep": {
                        "description": "How many older versions of this id stay listed after it.",
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 100,
                        "default": 1
                      },
                      "kind": {
                        "const": "bundle"
                      },
                      "folder": {
                        "description": "The folder whose files become assets, in the folder of release.yaml.",
                        "$ref": "#/$defs/path"
                      },
                      "index": {
                        "description": "The page that is opened, a path in the bundle.",
                        "default": "index.html",
                        "$ref": "#/$defs/path"
                      },
                      "routes": {
                        "description": "Paths that are answered with the index: /cart, /item/* (one segment), /docs/** (any rest). Default: every unknown path.",
                        "type": "array",
                        "maxItems": 1000,
                        "items": {
                          "type": "string",
                          "pattern": "^/"
                        }
                      },
                      "routing": {
                        "description": "site: each page has its own file, and an unknown path is answered with 404. app: the index answers every unknown page. Default: derived from the files; patchsign release prints it.",
                        "enum": ["site", "app"]
                      },
                      "headers": {
                        "description": "Response headers by a pattern of file paths: {\"**\": {Cross-Origin-Opener-Policy: same-origin}}. * stays within a name, ** is any number of folders; a later pattern wins.",
                        "type": "object",
                        "maxProperties": 100,
                        "additionalProperties": {
                          "type": "object",
                          "maxProperties": 20,
                          "additionalProperties": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": 4096
                          }
                        }
                      },
                      "cacheable": {
                        "description": "Patterns of paths that may be kept for a year where the name carries the content (main.3f9a1c07.js): app/*; * stays within a folder.",
                        "type": "array",
                        "maxItems": 1000,
                        "items": {
                          "type": "string"
                        }
                      },
                      "exclude": {
                        "description": "Patterns of files to leave out, as in .gitignore, besides the standard ones.",
                        "type": "array",
                        "maxItems": 1000,
                        "items": {
                          "type": "string",
                          "minLength": 1,
                          "not": {
                            "pattern": "\\*\\*"
                          }
                        }
                      },
                      "include": {
                        "description": "Patterns of files that are included although they are left out by default: .config.json.",
                        "type": "array",
                        "maxItems": 1000,
                        "items": {
                          "type": "string",
                          "minLength": 1,
                          "not": {
                            "pattern": "\\*\\*|^!"
                          }
                        }
                      },
                      "links": {
                        "description": "refuse: a symbolic link is an error; follow: it counts as the file or folder that it leads to, inside the folder.",
                        "enum": ["refuse", "follow"],
                        "default": "refuse"
                      },
                      "source-maps": {
                        "description": "Whether source maps of scripts, styles and WebAssembly are published.",
                        "enum": ["include", "leave-out"],
                        "default": "include"
                      },
                      "confirmed-by": {
                        "description": "page: a page calls patchline.confirm(), and a bundle without this call is warned about; program: a program confirms.",
                        "enum": ["page", "program"],
                        "default": "page"
                      },
                      "allow-secrets": {
                        "description": "Patterns of files that may hold private keys and tokens, because they are meant for everyone: demo/*.pem.",
                        "type": "array",
                        "maxItems": 1000,
                        "items": {
                          "type": "string",
                          "minLength": 1,
                          "not": {
                            "pattern": "\\*\\*|^!"
                          }
                        }
                      },
                      "commit": {
                        "description": "The commit that the folder was built from.",
                        "type": "string"
                      },
                      "gateways": {
                        "description": "Other systems whose own clients get it as well: meteor, for an app that Meteor built.",
                        "type": "array",
                        "items": {
                          "enum": ["meteor"]
                        }
                      },
                      "compatibility": {
                        "description": "The hash that a device's native part must have, by platform.",
                        "type": "object",
                        "additionalProperties": {
                          "type": "string"
                        }
                      }
                    },
                    "additionalProperties": false
                  }
                }
              ]
            },
        \#(versions)
          }
        }

        """#
}
