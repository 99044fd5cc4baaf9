package import PatchFormat

/// The types that a host exposes, as a document: `{"format": "patchline-host-v1", "types": […]}`.
package struct HostInterface: Equatable, Sendable {
    package static let format = "patchline-host-v1"

    package struct Method: Equatable, Sendable {
        package let name: String
        /// The type of each argument in words.
        package let arguments: [String]
        package let returns: String
        /// Whether it returns a promise.
        package let waits: Bool

        package init(name: String, arguments: [String], returns: String, waits: Bool) {
            self.name = name
            self.arguments = arguments
            self.returns = returns
            self.waits = waits
        }
    }

    package struct ExposedType: Equatable, Sendable {
        package let name: String
        package let parent: String?
        /// The types of the constructor's arguments, or nil if there is no constructor.
        package let constructor: [String]?
        package let methods: [Method]
        package let statics: [Method]

        package init(name: String, parent: String?, constructor: [String]?, methods: [Method], statics: [Method]) {
            self.name = name
            self.parent = parent
            self.constructor = constructor
            self.methods = methods
            self.statics = statics
        }
    }

    package let types: [ExposedType]

    package init(types: [ExposedType]) { self.types = types }

    package subscript(name: String) -> ExposedType? { types.first { $0.name == name } }

    package var json: JSON {
        .fields([("format", .text(Self.format)), ("types", .array(types.map(\.json)))])
    }
}

extension HostInterface.ExposedType {
    fileprivate var json: JSON {
        .fields([
            ("name", .text(name)), ("parent", parent.map { .text($0) }),
            ("constructor", constructor.map { .array($0.map { .text($0) }) }),
            ("methods", .array(methods.map(\.json))), ("statics", .array(statics.map(\.json))),
        ])
    }
}

extension HostInterface.Method {
    fileprivate var json: JSON {
        .fields([
            ("name", .text(name)), ("arguments", .array(arguments.map { .text($0) })), ("returns", .text(returns)),
            ("waits", .bool(waits)),
        ])
    }
}
