/// Why a text is not a valid name of an item.
package enum ItemFault: Error, Equatable, Sendable {
    /// `.` and `..` are never resolved.
    case dots
    /// It begins with a dot, like hidden files and our own ones.
    case hidden(String)
    case controlCharacter
    /// Some systems treat a backslash as a slash.
    case backslash
    /// The name contains a slash or is empty.
    case notOneName
    case longName
    case longPath
}

/// The name of a file or a folder.
///
/// It leads one level down, never up.
package struct ItemName: Hashable, Sendable {
    /// The most bytes of a name, as on most file systems.
    static let limit = 255

    package let text: String

    package init(_ text: String) throws(ItemFault) {
        guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "/")) else { throw .notOneName }
        try self.init(step: text)
    }

    /// - Parameter text: Not empty, and without a slash.
    init(step text: String) throws(ItemFault) {
        // Compared by bytes: a dot with a combining mark is another character, but has the same first byte on the disk.
        if text.utf8.elementsEqual(".".utf8) || text.utf8.elementsEqual("..".utf8) { throw .dots }
        if text.utf8.first == UInt8(ascii: ".") { throw .hidden(text) }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .controlCharacter
        }
        if text.utf8.contains(UInt8(ascii: "\\")) { throw .backslash }
        guard text.utf8.count <= Self.limit else { throw .longName }
        self.text = text
    }

    /// Returns the name of another copy: `Photo (2).jpg`.
    ///
    /// The stem is shortened if the name would be too long.
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
