package import PatchFormat

/// The native part of the app, to which a bundle must fit: `ios` and the hash that stands for what it offers.
package struct Platform: Hashable, Sendable {
    package static let rule = "must be 1 to 128 of printable ASCII without spaces"

    package let name: String
    /// Compared with the one that a manifest lists for `name`, byte for byte.
    package let compatibility: String

    package init?(name: String, compatibility: String) {
        for text in [name, compatibility] {
            guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                return nil
            }
        }
        self.name = name
        self.compatibility = compatibility
    }

    /// Whether a bundle that lists these hashes by platform may run here.
    package func fits(_ listed: [String: String]) -> Bool {
        listed[name].map { $0.utf8.elementsEqual(compatibility.utf8) } ?? false
    }
}

extension Platform {
    package var json: JSON {
        .fields([("name", .text(name)), ("compatibility", .text(compatibility))])
    }
}
