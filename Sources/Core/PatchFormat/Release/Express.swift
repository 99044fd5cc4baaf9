/// One channel's metadata in one response: the files that a refresh would otherwise download one by one, each with its path.
///
/// ```
/// patchline-express-v1
/// 3                                  the newest root's version
/// metadata/timestamp.json 1148       path and length, then the bytes and a newline
/// …
/// ```
/// The response itself is not signed. Each file in it is verified as if it had been downloaded separately.
package struct Express: Equatable, Sendable {
    package static let format = "patchline-express-v1"

    package struct Part: Equatable, Sendable {
        package let file: File
        package let bytes: [UInt8]

        package init(_ file: File, _ bytes: [UInt8]) {
            (self.file, self.bytes) = (file, bytes)
        }
    }

    package let channel: ChannelName
    /// The repository has no later root.
    package let newestRoot: Int
    /// Each file occurs once.
    package let parts: [Part]

    /// - Precondition: each file occurs once and is within its limit.
    package init(of channel: ChannelName, newestRoot: Int, parts: [Part]) {
        (self.channel, self.newestRoot, self.parts) = (channel, newestRoot, parts)
    }

    package var fileBytes: [UInt8] {
        var bytes = Array("\(Self.format)\n\(newestRoot)\n".utf8)
        for part in parts {
            bytes += "\(part.file.path) \(part.bytes.count)\n".utf8
            bytes += part.bytes
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

extension Express {
    /// A file that a channel's response may contain.
    package enum File: Hashable, Sendable {
        case root(version: Int)
        case timestamp
        /// The snapshot, the targets, the dial or the channel role.
        case role(String, version: Int)
        /// The list, the dial or the online parameters of the channel.
        case target(TargetPath, SHA256Digest)

        /// The path below the app.
        package var path: String {
            switch self {
            case .root(let version): URLLayout.metadata("root", version: version)
            case .timestamp: URLLayout.timestamp
            case .role(let role, let version): URLLayout.metadata(role, version: version)
            case .target(let path, let digest): URLLayout.target(path, sha256: digest)
            }
        }

        /// Parses a path, or returns nil for a file that a response of this channel cannot contain.
        package init?(path: String, of channel: ChannelName) {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard let name = parts.last, let dot = name.firstIndex(of: ".") else { return nil }
            let file: File?
            if path == URLLayout.timestamp {
                file = .timestamp
            } else if let version = Self.version(name[..<dot]) {
                file =
                    Self.roles(of: channel).map { .role($0, version: version) }.first { $0.path == path }
                    ?? .root(version: version)
            } else if let digest = SHA256Digest(hex: String(name[..<dot])) {
                file = Self.targets(of: channel).map { .target($0, digest) }.first { $0.path == path }
            } else {
                file = nil
            }
            // Swift treats canonically equal strings as equal even if their bytes differ.
            guard let file, file.path.hasSameBytes(as: path) else { return nil }
            self = file
        }

        private static func version(_ text: Substring) -> Int? {
            guard text.utf8.count <= 16, let version = Int(text), version > 0 else { return nil }
            return version
        }

        private static func roles(of channel: ChannelName) -> [String] {
            ["snapshot", "targets", channel.text, "dial"]
        }

        private static func targets(of channel: ChannelName) -> [TargetPath] {
            [.patchList(channel), .dial(channel), .parameters(channel)]
        }

        /// The largest size of the file, the same as for a separate download.
        package func limit(in channel: ChannelName) -> Int {
            switch self {
            case .root: Limits.root
            case .timestamp: Limits.timestamp
            case .role("snapshot", _): Limits.snapshot
            case .role: Limits.targetsRole
            case .target(.dial(channel), _): Limits.dial
            case .target(.parameters(channel), _): Limits.parameters
            case .target: Limits.patchList
            }
        }
    }
}

extension Express {
    /// - Throws: if the bytes break a rule of the format or contain files of another channel.
    package init(_ bytes: [UInt8], of channel: ChannelName) throws(FormatError) {
        guard bytes.count <= Limits.express else {
            throw Self.broken("must have at most \(Limits.express) bytes")
        }
        var rest = bytes[...]
        guard try Self.line(&rest) == Self.format else { throw Self.broken("must begin with \(Self.format)") }
        guard let newest = Self.number(try Self.line(&rest)), newest > 0 else {
            throw Self.broken("must name the newest root's version in its second line")
        }
        var parts: [Part] = []
        var seen: Set<File> = []
        while !rest.isEmpty {
            let words = try Self.line(&rest).split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 2, let file = File(path: String(words[0]), of: channel) else {
                throw Self.broken("must contain only metadata files of \(channel), each after its path and length")
            }
            guard let length = Self.number(String(words[1])), length <= file.limit(in: channel) else {
                let limit = file.limit(in: channel)
                throw FormatError("express", field: file.path, rule: "must have at most \(limit) bytes")
            }
            guard seen.insert(file).inserted else {
                throw FormatError("express", field: file.path, rule: "must occur once")
            }
            guard rest.count > length, rest[rest.startIndex + length] == UInt8(ascii: "\n") else {
                throw FormatError("express", field: file.path, rule: "must have its length, and end with a newline")
            }
            parts.append(Part(file, Array(rest.prefix(length))))
            rest = rest.dropFirst(length + 1)
        }
        self.init(of: channel, newestRoot: newest, parts: parts)
    }

    private static func broken(_ rule: String) -> FormatError { FormatError("express", rule: rule) }

    /// Reads one line.
    ///
    /// The longest possible line has a path of 140 bytes.
    private static func line(_ rest: inout ArraySlice<UInt8>) throws(FormatError) -> String {
        guard let end = rest.prefix(256).firstIndex(of: UInt8(ascii: "\n")) else {
            throw broken("must have a newline after each line")
        }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// Parses a decimal number without leading zeros or a sign.
    private static func number(_ text: String) -> Int? {
        guard text.utf8.count <= 16, let number = Int(text), number >= 0, "\(number)".hasSameBytes(as: text) else {
            return nil
        }
        return number
    }
}
