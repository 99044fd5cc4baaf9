extension Express {
    /// What a device says that it has, so that it does not come again: `?have=3.root,12.snapshot,5f2e9a0c77d01b3e`.
    ///
    /// A host of files that knows nothing of it answers everything.
    package struct Known: Hashable, Sendable {
        /// Stands behind the names, where no name is like it: who says it reads a difference to the named files too.
        private static let word = "diff"

        /// In the order in which they are said.
        private let names: [String]
        /// Whether the answer may be the difference to the named files.
        package let takesDifference: Bool

        package init(_ files: [File] = [], takesDifference: Bool = false) {
            self.init(names: files.compactMap(\.name), takesDifference: takesDifference)
        }

        private init(names: [String], takesDifference: Bool) {
            (self.names, self.takesDifference) = (names, takesDifference)
        }

        /// Of a request; whatever is no list of names says nothing.
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

        /// Without the `?`; nil where there is nothing to say.
        package var query: String? {
            names.isEmpty ? nil : "have=\((names + (takesDifference ? [Self.word] : [])).joined(separator: ","))"
        }

        /// The newest root, if one was named: the later ones belong into the answer.
        package var root: Int? {
            names.filter { $0.hasSuffix(".root") }.compactMap { Int($0.dropLast(5)) }.filter { $0 > 0 }.max()
        }

        package func has(_ file: File) -> Bool { file.name.map { names.contains($0) } ?? false }

        /// The files that the names stand for, among some that they may stand for.
        ///
        /// - Parameter files: in the order in which a device names them.
        /// - Returns: nil where a name stands for none of them, twice, or out of order.
        package func named(among files: [File]) -> [File]? {
            let found = files.filter(has)
            return found.compactMap(\.name) == names ? found : nil
        }

        /// Of a role that is named; nil for one that is not, or twice.
        package func version(of role: String) -> Int? {
            let found = names.filter { $0.hasSuffix(".\(role)") }
            guard found.count == 1, let digits = found.first?.dropLast(role.utf8.count + 1), digits.utf8.count <= 16
            else { return nil }
            return Int(digits).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

extension Express.File {
    /// `12.snapshot`, or the first 16 digits of a target's SHA-256; the timestamp has none.
    fileprivate var name: String? {
        switch self {
        case .root(let version): "\(version).root"
        case .timestamp: nil
        case .role(let role, let version): "\(version).\(role)"
        case .target(_, let digest): String(digest.hex.prefix(16))
        }
    }
}
