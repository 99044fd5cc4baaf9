/// What came out of a script in place of a value.
struct JavaScriptException: Error, Equatable {
    enum Kind: Equatable {
        case thrown
        case stopped(EngineLimits.Stop)
    }

    var kind = Kind.thrown
    /// As `TypeError: x is no function`; of what is no error, its text.
    var message: String
    var source: String?
    var line: Int?
    var column: Int?
    var stack: String?
    /// The id of the patch that it came out of, where it is known.
    var patch: String?
    /// Swift's own error, where a host's method threw it.
    var hostError: HostErrorBox?
}

extension JavaScriptException {
    /// What the engine calls the text of the language itself.
    static let language = "patchline"

    /// The same at the call of the language's word, where the language threw it: `require`, `defineClass` and their like.
    var outsideLanguage: JavaScriptException {
        guard source == Self.language else { return self }
        var moved = self
        (moved.source, moved.line, moved.column) = (nil, nil, nil)
        for call in (stack ?? "").split(separator: "\n") {
            // `method@file:line:column`, or without the method.
            let place = call.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            let parts = place.split(separator: ":")
            guard parts.count >= 3, let line = Int(parts[parts.count - 2]), let column = Int(parts[parts.count - 1]),
                parts[0] != Self.language
            else { continue }
            moved.source = parts.dropLast(2).joined(separator: ":")
            (moved.line, moved.column) = (line, column)
            break
        }
        return moved
    }
}

/// An error of the host's on its way through a script.
final class HostErrorBox: Equatable, Sendable {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    static func == (left: HostErrorBox, right: HostErrorBox) -> Bool { left === right }
}
