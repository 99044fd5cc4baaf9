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

/// An error of the host's on its way through a script.
final class HostErrorBox: Equatable, Sendable {
    let error: any Error

    init(_ error: any Error) { self.error = error }

    static func == (left: HostErrorBox, right: HostErrorBox) -> Bool { left === right }
}
