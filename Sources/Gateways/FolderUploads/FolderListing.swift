import PatchFormat

/// What is in a folder, as people look for it.
struct FolderListing: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let name: ItemName
        /// Bytes of a file; nil for a folder.
        let size: Int?
    }

    let folder: ItemPath
    let entries: [Entry]

    init(of folder: ItemPath, _ entries: [Entry]) {
        self.folder = folder
        let keyed = entries.map { (key: NaturalOrder($0.name.text), entry: $0) }
        self.entries = keyed.sorted { $0.key < $1.key }.map(\.entry)
    }

    /// `[{"path":"\/images\/","name":"images"}]`: in this order and with these slashes, as GCDWebUploader writes it.
    var json: [UInt8] {
        var out = Array("[".utf8)
        for (index, entry) in entries.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out += "{\"path\":".utf8
            out += Self.quoted(folder.appending(entry.name).text + (entry.size == nil ? "/" : ""))
            out += ",\"name\":".utf8
            out += Self.quoted(entry.name.text)
            if let size = entry.size { out += ",\"size\":\(size)".utf8 }
            out.append(UInt8(ascii: "}"))
        }
        out.append(UInt8(ascii: "]"))
        return out
    }

    private static func quoted(_ text: String) -> [UInt8] {
        JSON.text(text).fileBytes.flatMap { $0 == UInt8(ascii: "/") ? Array("\\/".utf8) : [$0] }
    }
}
