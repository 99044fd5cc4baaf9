package import PatchFormat
package import PatchTrust

/// A next root, a next targets role, or both, on their way between the holders of the keys, as one file.
///
/// ```
/// {"format": "patchline-trust-draft-v1", "app": APP,
///  "base": {"root": {"version": N, "sha256": HEX}, "targets": {…}}, "root": ENVELOPE, "targets": ENVELOPE}
/// ```
///
/// `base` is null for the first root of an app; `root` or `targets` is absent when it stays as it is. Read but not
/// judged: ``TrustChange`` does that.
package struct TrustDraft: Sendable {
    package static let format = "patchline-trust-draft-v1"

    /// A role that a draft was made from.
    package struct Version: Hashable, Sendable {
        package let version: Int
        /// Of the canonical JSON of the role's signed part: the same whatever signatures the role carries.
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

    /// Whether both were made from the same roles and say the same; signatures may differ.
    package func hasContent(of other: TrustDraft) -> Bool {
        app == other.app && base == other.base && root?.identity == other.root?.identity
            && targets?.identity == other.targets?.identity
    }
}
