package import PatchFormat
import PatchTrust
import ReleaseTree

/// What is wrong with one file of an app's folder.
package struct TreeFault: Hashable, Sendable {
    /// Which rule it breaks.
    package enum Rule: String, CaseIterable, Sendable {
        /// Something refers to it, and it is not there.
        case missing
        /// Its bytes are not those that its name, or what refers to it, says.
        case altered
        /// It cannot be read as what it is.
        case malformed
        /// A role that does not verify from the root of trust.
        case untrusted
        /// An entry or an asset whose signature or digests do not hold.
        case entry
        /// The record of labels does not say what a published list says.
        case label
        /// No file of a published tree has such a name; it is not served.
        case stranger
        /// One of the server's own records, or a draft, cannot be read.
        case record
        /// Half-written, by what was stopped or is under way; no reader meets it.
        case leftover

        /// Whether a tree that has it is not whole.
        package var isFault: Bool { self != .leftover }
    }

    /// Below the server's folder.
    package let path: String
    package let rule: Rule
    /// What was found, in words.
    package let detail: String
    /// What would heal it, if it lay somewhere.
    let wanted: Wanted?

    /// A file of the tree whose bytes are known by their digest.
    struct Wanted: Hashable, Sendable {
        let file: TreePath.File
        let sha256: SHA256Digest
    }

    init(_ path: String, _ rule: Rule, _ detail: String, wanted: Wanted? = nil) {
        self.path = path
        self.rule = rule
        self.detail = detail
        self.wanted = wanted
    }
}

extension TreeFault.Rule {
    init(_ error: TrustError) {
        self =
            switch error {
            case .malformed: .malformed
            case .wrongLength, .wrongDigest: .altered
            case .entry: .entry
            default: .untrusted
            }
    }
}

/// What a look at everything found.
package struct TreeReport: Equatable, Sendable {
    package let app: AppID
    package internal(set) var faults: [TreeFault] = []
    /// Faults that were healed, as they were found.
    package internal(set) var repaired: [TreeFault] = []
    /// What whoever had it repaired must know of that.
    package internal(set) var notes: [String] = []
    /// How much was read: roles, targets, objects, bytes of all of them.
    package internal(set) var counts = Counts()

    package struct Counts: Equatable, Sendable {
        package var roles = 0
        package var targets = 0
        package var objects = 0
        package var bytes = 0
        /// RSA signatures of entries and assets that hold.
        package var signatures = 0
        /// Files of the tree that nothing refers to; `gc` removes them in time.
        package var unreferenced = 0
    }

    package var isWhole: Bool { !faults.contains { $0.rule.isFault } }
}
