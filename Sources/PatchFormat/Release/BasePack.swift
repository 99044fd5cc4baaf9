/// What brings a device from one version of a bundle to another: see the page Packs.
///
/// Transport and not trust: nothing signed names it.
package struct BasePack: Hashable, Sendable {
    package enum Part: String, Hashable, Sendable, CaseIterable {
        case pack
        /// Of the signature column, what the base's does not have.
        case signatures = "sigs"
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
}
