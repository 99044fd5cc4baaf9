/// A failure of one patch.
///
/// The app continues without the patch, or without the failed call.
public struct PatchFailure: Error, Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// The script's file does not exist.
        case missing
        /// The file differs from the signed one.
        case altered
        case notUTF8
        case tooLarge
        /// The engine cannot parse the script.
        case syntax
        /// The patch threw an error that was not caught.
        case thrown
        /// The patch exceeded the time limit, and was stopped and withdrawn.
        case timeLimit
        /// The patch exceeded the memory limit, and was stopped and withdrawn.
        case memoryLimit
        /// A method of the patch returned a value of another type than the host's method does.
        case wrongResult
    }

    public let kind: Kind
    public let patch: String
    public let version: String?
    public let message: String
    /// The original file according to the source map, otherwise the script.
    ///
    /// If it is nil, `line` and `column` refer to the script.
    public let file: String?
    /// The line in `file`, from 1.
    public let line: Int?
    /// The column in `line`, from 1.
    public let column: Int?
    /// The engine's call stack: one line for each call, `method@file:line:column`.
    public let stack: String?
}

extension PatchFailure: CustomStringConvertible {
    public var description: String {
        var place = file ?? (patch.hasSuffix(".js") ? patch : "\(patch).js")
        if let line { place += ":\(line)" }
        if line != nil, let column { place += ":\(column)" }
        return "\(patch)\(version.map { " \($0)" } ?? ""): \(message) (\(place))"
    }
}

/// Why a call between Swift and a script was not made.
public enum PatchCallError: Error, Equatable, Sendable {
    /// The patch that a function belongs to is withdrawn.
    case withdrawn(patch: String)
    /// The host no longer exists.
    case noHost
    /// A Swift value that scripts cannot represent.
    case mismatch(PatchMismatch)
    /// The method is already exposed by another host. A method belongs to one host.
    case exposedElsewhere(String)
    /// A type of this name, or the type itself, is already exposed.
    case nameTaken(String)
    /// The parent type is not exposed.
    case noParent(String)
}

extension PatchCallError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .withdrawn(let patch): "the patch \(patch) is withdrawn, and its functions with it"
        case .noHost: "the host of this function no longer exists"
        case .mismatch(let mismatch): "a value for a script \(mismatch)"
        case .exposedElsewhere(let name): "\(name) is exposed by another host"
        case .nameTaken(let name): "\(name) is exposed already"
        case .noParent(let name): "\(name) is not exposed, so it cannot be a parent"
        }
    }
}
