/// A delta that turns one version of a bundle into another: see the page Packs.
///
/// Packs are not signed. Devices verify the files that result from one.
package struct BasePack: Hashable, Sendable {
    package enum Part: String, Hashable, Sendable, CaseIterable {
        case pack
        /// The signatures that the base's signature column does not contain.
        case signatures = "sigs"
        /// The new signatures and the pack in one file.
        case signed
    }

    /// The digest of the manifest of the resulting version.
    package let manifest: SHA256Digest
    /// The digest of the manifest of the version that the pack applies to.
    package let base: SHA256Digest

    package init(manifest: SHA256Digest, base: SHA256Digest) {
        (self.manifest, self.base) = (manifest, base)
    }

    /// The file name below `packs/<manifest sha256>/`, such as `from-<base manifest sha256>.pack`.
    package func name(of part: Part) -> String { "from-\(base.hex).\(part.rawValue)" }

    /// The start of the part `signed`: the length of the signatures in bytes, big-endian, and the signatures.
    package static func front(_ signatures: [UInt8]) -> [UInt8] {
        (0..<frontCount).map { UInt8(truncatingIfNeeded: signatures.count >> (8 * (frontCount - 1 - $0))) } + signatures
    }

    /// The bytes of the length field in front of the signatures.
    package static let frontCount = 4

    /// Returns the length of the signatures in bytes, or nil while the length field is incomplete.
    package static func signatures(in front: [UInt8]) -> Int? {
        guard front.count >= frontCount else { return nil }
        return front.prefix(frontCount).reduce(0) { $0 << 8 | Int($1) }
    }
}
