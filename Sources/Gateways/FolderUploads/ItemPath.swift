import PatchStore
package import SystemPackage

/// The way from the folder to something in it, as a client spells it: names only, so that it cannot leave the folder.
///
/// Slashes at its start, at its end and beside each other mean nothing.
package struct ItemPath: Hashable, Sendable {
    /// Bytes of the text, before which nothing is looked at.
    static let limit = 1_024

    /// None for the folder itself.
    package let names: [ItemName]

    package static let root = ItemPath(names: [])

    private init(names: [ItemName]) {
        self.names = names
    }

    /// - Parameter text: decoded; what is in it is taken as it stands.
    package init(_ text: String) throws(ItemFault) {
        guard text.utf8.count <= Self.limit else { throw .longPath }
        var names: [ItemName] = []
        for step in text.utf8.split(separator: UInt8(ascii: "/")) {
            names.append(try ItemName(step: String(Substring(step))))
        }
        self.names = names
    }

    /// With a slash before each name.
    package var text: String { names.isEmpty ? "/" : names.map { "/\($0.text)" }.joined() }

    var isRoot: Bool { names.isEmpty }

    /// The folder that it lies in; the folder itself lies in none.
    var parent: ItemPath { ItemPath(names: names.dropLast()) }

    func appending(_ name: ItemName) -> ItemPath { ItemPath(names: names + [name]) }

    /// Whether this is `other`, or lies in it.
    func isWithin(_ other: ItemPath) -> Bool {
        names.starts(with: other.names) { $0.text.utf8.elementsEqual($1.text.utf8) }
    }

    /// Where it is on the disk.
    package func path(below root: FilePath) -> FilePath {
        isRoot ? root : root.at(names.map(\.text).joined(separator: "/"))
    }
}
