extension Express {
    /// The files that a device already has, so that the server omits them: `?have=3.root,12.snapshot,5f2e9a0c77d01b3e`.
    ///
    /// A static file host ignores the query and returns everything.
    package struct Known: Hashable, Sendable {
        /// Follows the names, none of which can equal it.
        ///
        /// A device that sends it also accepts a difference to the named files.
        private static let word = "diff"

        /// The names in the order of the query.
        private let names: [String]
        /// Whether the response may be the difference to the named files.
        package let takesDifference: Bool

        package init(_ files: [File] = [], takesDifference: Bool = false) {
            self.init(names: files.compactMap(\.name), takesDifference: takesDifference)
        }

        private init(names: [String], takesDifference: Bool) {
            (self.names, self.takesDifference) = (names, takesDifference)
        }

        /// Parses the query of a request.
        ///
        /// A query in another form counts as empty.
        package init(query: String?) {
            guard let query, query.utf8.count <= 1_024, query.hasPrefix("have=") else {
                self.init()
                return
            }
            var names = query.dropFirst(5).split(separator: ",").map { String($0) }
            let takesDifference = names.last == Self.word
            if takesDifference { names.removeLast() }
            self.init(names: names, takesDifference: takesDifference)
        }

        /// The query without the `?`, or nil if no file is named.
        package var query: String? {
            names.isEmpty ? nil : "have=\((names + (takesDifference ? [Self.word] : [])).joined(separator: ","))"
        }

        /// The newest root that is named; the response contains the later ones.
        package var root: Int? {
            names.filter { $0.hasSuffix(".root") }.compactMap { Int($0.dropLast(5)) }.filter { $0 > 0 }.max()
        }

        package func has(_ file: File) -> Bool { file.name.map { names.contains($0) } ?? false }

        /// Returns the files that the names identify.
        ///
        /// - Parameter files: the candidates, in the order in which a device names them.
        /// - Returns: nil if a name matches none of them, occurs twice, or is out of order.
        package func named(among files: [File]) -> [File]? {
            let found = files.filter(has)
            return found.compactMap(\.name) == names ? found : nil
        }

        /// Returns the version of the named role, or nil unless the role is named exactly once.
        package func version(of role: String) -> Int? {
            let found = names.filter { $0.hasSuffix(".\(role)") }
            guard found.count == 1, let digits = found.first?.dropLast(role.utf8.count + 1), digits.utf8.count <= 16
            else { return nil }
            return Int(digits).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

extension Express.File {
    /// `12.snapshot`, or the first 16 digits of a target's SHA-256.
    ///
    /// The timestamp has no name.
    fileprivate var name: String? {
        switch self {
        case .root(let version): "\(version).root"
        case .timestamp: nil
        case .role(let role, let version): "\(version).\(role)"
        case .target(_, let digest): String(digest.hex.prefix(16))
        }
    }
}
