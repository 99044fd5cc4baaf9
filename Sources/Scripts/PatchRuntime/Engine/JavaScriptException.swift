/// An exception of a script.
struct JavaScriptException: Error, Equatable {
    enum Kind: Equatable {
        case thrown
        case stopped(EngineLimits.Stop)
    }

    var kind = Kind.thrown
    /// A message such as `TypeError: x is no function`.
    ///
    /// For a thrown value that is not an error, its text.
    var message: String
    var source: String?
    var line: Int?
    var column: Int?
    var stack: String?
    /// The id of the patch that threw it, if known.
    var patch: String?
    /// The original Swift error, if a host method threw it.
    var hostError: HostErrorBox?
}

extension JavaScriptException {
    /// The source name of the language's own text in the engine.
    static let language = "patchline"

    /// Moves the location of an error in the language itself to the script's call of `require`, `defineClass` or the like.
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

/// A Swift error of the host that passes through a script.
final class HostErrorBox: Equatable, Sendable {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    static func == (left: HostErrorBox, right: HostErrorBox) -> Bool { left === right }
}
