/// What went wrong in one patch: the app goes on without it, or without that call.
public struct PatchFailure: Error, Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        /// The script's file is not there.
        case missing
        /// Its bytes are not the signed ones.
        case altered
        case notUTF8
        case tooLarge
        /// The engine cannot parse it.
        case syntax
        /// It threw, and nobody caught it.
        case thrown
        /// It ran for longer than it may, and was stopped and withdrawn.
        case timeLimit
        /// It took more memory than it may, and was stopped and withdrawn.
        case memoryLimit
        /// A method of its gave a value of another type than the host's method has.
        case wrongResult
    }

    public let kind: Kind
    public let patch: String
    public let version: String?
    public let message: String
    /// Where: by its source map in the file that the script was made from, otherwise in the script.
    public let file: String?
    /// From 1.
    public let line: Int?
    /// From 1.
    public let column: Int?
    /// As the engine writes it: a line for each call, `method@file:line:column`.
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
    /// The patch that a function came from is withdrawn.
    case withdrawn(patch: String)
    /// The host is gone.
    case noHost
    /// A value that Swift hands over is none that scripts have.
    case mismatch(PatchMismatch)
    /// A method belongs to one host.
    case exposedElsewhere(String)
    /// A type of this name is exposed already, or its parent is not.
    case nameTaken(String)
    case noParent(String)
}

extension PatchCallError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .withdrawn(let patch): "the patch \(patch) is withdrawn, and its functions with it"
        case .noHost: "the host of this function is gone"
        case .mismatch(let mismatch): "a value for a script \(mismatch)"
        case .exposedElsewhere(let name): "\(name) is exposed by another host"
        case .nameTaken(let name): "\(name) is exposed already"
        case .noParent(let name): "\(name) is not exposed, and so is no parent"
        }
    }
}
