import PatchCrypto
package import PatchFormat
import PatchTrust

/// A fault of one file in an app's folder.
package struct TreeFault: Hashable, Sendable {
    /// Which rule it breaks.
    package enum Rule: String, CaseIterable, Sendable {
        /// A file that is referred to is not there.
        case missing
        /// Its bytes do not match its name, or the file that refers to it.
        case altered
        /// It cannot be parsed as its kind of file.
        case malformed
        /// A role that does not verify from the root of trust.
        case untrusted
        /// An entry or an asset whose signature or digests do not hold.
        case entry
        /// The record of labels differs from a published list.
        case label
        /// Its name is none of a published tree; it is not served.
        case stranger
        /// One of the server's own records, or a draft, cannot be read.
        case record
        /// A compressed form that is not one of the file that it stands beside, a pack that does not make its version, or an
        /// index that names what is not there; devices do without.
        case form
        /// Half-written, by an interrupted or running writer; no reader meets it.
        case leftover

        /// Whether the tree is broken by it.
        package var isFault: Bool { self != .leftover }
    }

    /// Below the server's folder.
    package let path: String
    package let rule: Rule
    /// The finding, in words.
    package let detail: String
    /// The file that would heal it, if it can be found.
    let wanted: Wanted?
    /// The compressed form, pack or index that is wrong.
    let form: TreePath.File?

    /// A file of the tree whose bytes are known by their digest.
    struct Wanted: Hashable, Sendable {
        let file: TreePath.File
        let sha256: SHA256Digest
    }

    init(_ path: String, _ rule: Rule, _ detail: String, wanted: Wanted? = nil, form: TreePath.File? = nil) {
        self.path = path
        self.rule = rule
        self.detail = detail
        self.wanted = wanted
        self.form = form
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

/// The findings of a check of everything.
package struct TreeReport: Equatable, Sendable {
    package let app: AppID
    package internal(set) var faults: [TreeFault] = []
    /// Faults that were healed, as found.
    package internal(set) var repaired: [TreeFault] = []
    /// Consequences of the repair that the operator must know.
    package internal(set) var notes: [String] = []
    /// The number of roles, targets and objects read, and their bytes.
    package internal(set) var counts = Counts()

    package struct Counts: Equatable, Sendable {
        package var roles = 0
        package var targets = 0
        package var objects = 0
        /// Compressed ones of targets, objects and packs.
        package var forms = 0
        /// From a base, and the signatures beside them.
        package var packs = 0
        package var bytes = 0
        /// RSA signatures of entries and assets that hold.
        package var signatures = 0
        /// Files of the tree that nothing refers to; `gc` removes them in time.
        package var unreferenced = 0
    }

    package var isWhole: Bool { !faults.contains { $0.rule.isFault } }
}

/// What is wrong with what somebody signed.
enum SignedFault {
    static func noTarget(_ name: ExactString) -> String { "\(name) is no target of a channel" }
    static func length(_ found: Int, signed: Int) -> String { "it has \(found) bytes; the role says \(signed)" }
    static func unlisted(_ role: String) -> String { "it does not list \(role)" }
}
