/// What brings a device from one version of a bundle to another: see the page Packs.
///
/// Transport and not trust: nothing signed names it.
package struct BasePack: Hashable, Sendable {
    package enum Part: String, Hashable, Sendable, CaseIterable {
        case pack
        /// Of the signature column, what the base's does not have.
        case signatures = "sigs"
        /// Both in one: what of the column is new, and the pack.
        case signed
    }

    /// Of the version that it makes.
    package let manifest: SHA256Digest
    /// Of the version that it is applied to.
    package let base: SHA256Digest

    package init(manifest: SHA256Digest, base: SHA256Digest) {
        (self.manifest, self.base) = (manifest, base)
    }

    /// Below `packs/<manifest sha256>/`: `from-<base manifest sha256>.pack`.
    package func name(of part: Part) -> String { "from-\(base.hex).\(part.rawValue)" }

    /// What stands before the pack in the part `signed`: how many bytes of signatures there are, big-endian, and these.
    package static func front(_ signatures: [UInt8]) -> [UInt8] {
        (0..<frontCount).map { UInt8(truncatingIfNeeded: signatures.count >> (8 * (frontCount - 1 - $0))) } + signatures
    }

    /// The bytes that say how many bytes of signatures follow.
    package static let frontCount = 4

    /// How many bytes of signatures a front says that it has; nil before its beginning is here.
    package static func signatures(in front: [UInt8]) -> Int? {
        guard front.count >= frontCount else { return nil }
        return front.prefix(frontCount).reduce(0) { $0 << 8 | Int($1) }
    }
}
