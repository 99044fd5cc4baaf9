import PatchStore
package import SystemPackage

/// The path from the folder to an item in it, as a client spells it.
///
/// It has only valid names, so it cannot leave the folder.
///
/// Slashes at its start, at its end and next to each other are ignored.
package struct ItemPath: Hashable, Sendable {
    /// The most bytes of the text.
    ///
    /// A longer text is rejected unread.
    static let limit = 1_024

    /// Empty for the folder itself.
    package let names: [ItemName]

    package static let root = ItemPath(names: [])

    private init(names: [ItemName]) {
        self.names = names
    }

    /// - Parameter text: The decoded text. It is not decoded again.
    package init(_ text: String) throws(ItemFault) {
        guard text.utf8.count <= Self.limit else { throw .longPath }
        var names: [ItemName] = []
        for step in text.utf8.split(separator: UInt8(ascii: "/")) {
            names.append(try ItemName(step: String(Substring(step))))
        }
        self.names = names
    }

    /// The path with a slash before each name.
    package var text: String { names.isEmpty ? "/" : names.map { "/\($0.text)" }.joined() }

    var isRoot: Bool { names.isEmpty }

    /// The folder that contains the item.
    ///
    /// The root is its own parent.
    var parent: ItemPath { ItemPath(names: names.dropLast()) }

    func appending(_ name: ItemName) -> ItemPath { ItemPath(names: names + [name]) }

    /// Whether this is `other`, or is inside it.
    func isWithin(_ other: ItemPath) -> Bool {
        names.starts(with: other.names) { $0.text.utf8.elementsEqual($1.text.utf8) }
    }

    /// Returns the path on the disk.
    package func path(below root: FilePath) -> FilePath {
        isRoot ? root : root.at(names.map(\.text).joined(separator: "/"))
    }
}
