import PatchFormat

/// The contents of a folder, in natural order.
struct FolderListing: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let name: ItemName
        /// The size of a file in bytes, or nil for a folder.
        let size: Int?
    }

    let folder: ItemPath
    let entries: [Entry]

    init(of folder: ItemPath, _ entries: [Entry]) {
        self.folder = folder
        let keyed = entries.map { (key: NaturalOrder($0.name.text), entry: $0) }
        self.entries = keyed.sorted { $0.key < $1.key }.map(\.entry)
    }

    /// `[{"path":"\/images\/","name":"images"}]`: with the order and the escaped slashes of GCDWebUploader.
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
