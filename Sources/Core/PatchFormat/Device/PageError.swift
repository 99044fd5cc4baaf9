/// The first error of a page on trial, as reported by its browser: `POST /__patchline/page-error`.
///
/// ```
/// { "launch": "…", "message": "Error: no cart", "source": "/app.js", "line": 2, "column": 9 }
/// ```
///
/// It explains a rollback but does not cause one. Logs and reports contain it, so it excludes queries, user names in URLs and host
/// names of this machine: the app's own host name is a secret.
package struct PageError: Hashable, Sendable {
    /// The largest report in bytes.
    package static let limit = 4_096
    package static let longestMessage = 300
    package static let longestSource = 200
    /// The highest line and column.
    package static let most = 1 << 31 - 1

    /// The message on one line.
    package let message: String
    /// The path of the script, or nil if unknown.
    package let source: String?
    /// The line from 1, or 0 if unknown.
    package let line: Int
    package let column: Int

    package init(message: String, source: String? = nil, line: Int = 0, column: Int = 0) {
        self.message = Self.shortened(Self.withoutSecrets(message), to: Self.longestMessage)
        let path = source.map { Self.shortened(Self.withoutSecrets($0), to: Self.longestSource) } ?? ""
        self.source = path.isEmpty ? nil : path
        (self.line, self.column) = (min(max(0, line), Self.most), min(max(0, column), Self.most))
    }

    /// Reads an error as a page reports it.
    package init(reported fields: Fields) throws(FormatError) {
        self.init(
            message: try fields.string("message"),
            source: try fields.optionalString("source"),
            line: try fields.integer("line", in: 0...Self.most),
            column: try fields.integer("column", in: 0...Self.most)
        )
    }

    /// Reads an error as ``json`` writes it.
    ///
    /// The text was cleaned before it was stored and is not cleaned again.
    package init(kept fields: Fields) throws(FormatError) {
        message = Self.shortened(try fields.string("message"), to: Self.longestMessage)
        source = try fields.optionalString("source").map { Self.shortened($0, to: Self.longestSource) }
        line = try fields.integer("line", in: 0...Self.most)
        column = try fields.integer("column", in: 0...Self.most)
    }

    package var json: JSON { .fields(members) }

    package var members: [(String, JSON?)] {
        [
            ("message", .text(message)), ("source", source.map { .text($0) }), ("line", .integer(line)),
            ("column", .integer(column)),
        ]
    }

    private static func shortened(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars.prefix(count).map { scalar -> UnicodeScalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Removes the query of each URL in a text, and the host if it is this machine.
    private static func withoutSecrets(_ text: String) -> String {
        var rest = Array(text.unicodeScalars)[...]
        var told = String.UnicodeScalarView()
        while let mark = rest.indices.first(where: { isMark(rest, at: $0) }) {
            let scheme = rest[..<mark].reversed().prefix { $0.isASCII && $0.properties.isAlphabetic }.count
            let url = rest[(mark + 3)...].prefix { !isEnd($0) }
            let address = url.prefix { $0 != "?" && $0 != "#" }
            let authority = address.prefix { $0 != "/" }
            let host = authority.lastIndex(of: "@").map { authority[(authority.index(after: $0))...] } ?? authority
            told.append(contentsOf: rest[..<(mark - scheme)])
            if !isOfThisMachine(String(String.UnicodeScalarView(host))) {
                told.append(contentsOf: rest[(mark - scheme)..<(mark + 3)])
                told.append(contentsOf: host)
            }
            told.append(contentsOf: address[authority.endIndex...])
            rest = rest[url.endIndex...]
        }
        told.append(contentsOf: rest)
        return String(told)
    }

    private static func isMark(_ text: ArraySlice<UnicodeScalar>, at index: Int) -> Bool {
        index + 2 < text.endIndex && text[index] == ":" && text[index + 1] == "/" && text[index + 2] == "/"
    }

    private static func isEnd(_ scalar: UnicodeScalar) -> Bool {
        scalar.properties.isWhitespace || "\"'`<>()".unicodeScalars.contains(scalar)
    }

    /// - Parameter host: may include a port.
    private static func isOfThisMachine(_ host: String) -> Bool {
        let name = host.lowercased().prefix { $0 != ":" }
        return name == "localhost" || name.hasSuffix(".localhost") || name.hasPrefix("127.") || host.hasPrefix("[::1]")
    }
}

extension PageError: CustomStringConvertible {
    package var description: String {
        let place = line > 0 ? ["line \(line)", "column \(column)"] : []
        let words = ([source].compactMap(\.self) + place).joined(separator: ", ")
        return words.isEmpty ? message : "\(message) (\(words))"
    }
}
