/// Why a text names nothing in the folder.
package enum ItemFault: Error, Equatable, Sendable {
    /// `.` and `..` are never resolved.
    case dots
    /// It begins with a dot, as what nobody sees does: our own files too.
    case hidden(String)
    case controlCharacter
    /// Some systems take it for a slash.
    case backslash
    /// A slash in what must be one name, or nothing at all.
    case notOneName
    case longName
    case longPath
}

/// The name of a file or a folder: one step down, never up.
package struct ItemName: Hashable, Sendable {
    /// Bytes, as on most file systems.
    static let limit = 255

    package let text: String

    package init(_ text: String) throws(ItemFault) {
        guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) else { throw .notOneName }
        try self.init(step: text)
    }

    /// - Parameter text: not empty, and without a slash.
    init(step text: String) throws(ItemFault) {
        // By bytes: a dot that a combining mark follows is another character, and the same dot on the disk.
        if text.utf8.elementsEqual(".".utf8) || text.utf8.elementsEqual("..".utf8) { throw .dots }
        if text.utf8.first == UInt8(ascii: ".") { throw .hidden(text) }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .controlCharacter
        }
        if text.utf8.contains(UInt8(ascii: "\\")) { throw .backslash }
        guard text.utf8.count <= Self.limit else { throw .longName }
        self.text = text
    }

    /// `Photo (2).jpg`: the name for one more of it; its stem is shortened if the name would be too long.
    func numbered(_ number: Int) throws(ItemFault) -> ItemName {
        var (stem, rest) = (text[...], " (\(number))")
        if let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")), text.utf8.index(after: dot) < text.utf8.endIndex,
            text[dot...].utf8.count + rest.utf8.count < Self.limit
        {
            (stem, rest) = (text[..<dot], rest + text[dot...])
        }
        while !stem.isEmpty, stem.utf8.count + rest.utf8.count > Self.limit { stem.removeLast() }
        guard !stem.isEmpty else { throw .longName }
        return try ItemName(stem + rest)
    }
}
