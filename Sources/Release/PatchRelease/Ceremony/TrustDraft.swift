package import PatchFormat
package import PatchTrust

/// A next root, a next targets role, or both, in one file that the key holders exchange.
///
/// ```
/// {"format": "patchline-trust-draft-v1", "app": APP,
///  "base": {"root": {"version": N, "sha256": HEX}, "targets": {…}}, "root": ENVELOPE, "targets": ENVELOPE}
/// ```
///
/// `base` is null for the first root of an app. `root` or `targets` is absent if it does not change. A draft is only parsed here;
/// ``TrustChange`` checks it.
package struct TrustDraft: Sendable {
    package static let format = "patchline-trust-draft-v1"

    /// A version of a role that a draft was made from.
    package struct Version: Hashable, Sendable {
        package let version: Int
        /// The digest of the canonical JSON of the role's signed part.
        ///
        /// It does not depend on the signatures.
        package let sha256: SHA256Digest

        package init(version: Int, sha256: SHA256Digest) {
            self.version = version
            self.sha256 = sha256
        }
    }

    /// The roles that were current when the draft was made.
    package struct Base: Hashable, Sendable {
        package let root: Version
        package let targets: Version

        package init(root: Version, targets: Version) {
            self.root = root
            self.targets = targets
        }
    }

    package let app: AppID
    package let base: Base?
    package internal(set) var root: Envelope?
    package internal(set) var targets: Envelope?

    package init(app: AppID, base: Base?, root: Envelope?, targets: Envelope?) {
        self.app = app
        self.base = base
        self.root = root
        self.targets = targets
    }

    /// Whether both drafts have the same base and content; signatures may differ.
    package func hasContent(of other: TrustDraft) -> Bool {
        app == other.app && base == other.base && root?.identity == other.root?.identity
            && targets?.identity == other.targets?.identity
    }
}
