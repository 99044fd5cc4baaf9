import PatchCrypto
package import PatchFormat
import PatchTrust

/// A fault of one file in an app's folder.
package struct TreeFault: Hashable, Sendable {
    /// The violated rule.
    package enum Rule: String, CaseIterable, Sendable {
        /// A referenced file does not exist.
        case missing
        /// The bytes do not match the file's name, or the file that refers to it.
        case altered
        /// The file cannot be parsed.
        case malformed
        /// A role that does not verify from the root of trust.
        case untrusted
        /// An entry or an asset whose signature or digests are not valid.
        case entry
        /// The record of labels differs from a published list.
        case label
        /// The file's name does not belong in a published tree.
        ///
        /// The file is not served.
        case stranger
        /// One of the server's own records, or a draft, cannot be read.
        case record
        /// A compressed form that does not match its plain file, a pack that does not produce its version, or an index that lists
        /// missing packs.
        ///
        /// Devices do without them.
        case form
        /// A half-written file of an interrupted or running writer.
        ///
        /// Clients never read it.
        case leftover

        /// Whether this breaks the tree.
        package var isFault: Bool { self != .leftover }
    }

    /// The path relative to the server's folder.
    package let path: String
    package let rule: Rule
    /// The finding, in words.
    package let detail: String
    /// The file that would repair the fault, if it can be found.
    let wanted: Wanted?
    /// The faulty compressed form, pack or index.
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

/// The findings of a full check.
package struct TreeReport: Equatable, Sendable {
    package let app: AppID
    package internal(set) var faults: [TreeFault] = []
    /// Faults that were repaired, as found.
    package internal(set) var repaired: [TreeFault] = []
    /// Consequences of the repair that the operator must know.
    package internal(set) var notes: [String] = []
    /// The number of roles, targets and objects read, and their bytes.
    package internal(set) var counts = Counts()

    package struct Counts: Equatable, Sendable {
        package var roles = 0
        package var targets = 0
        package var objects = 0
        /// Compressed forms of targets, objects and packs.
        package var forms = 0
        /// Packs from a base, and their signature packs.
        package var packs = 0
        package var bytes = 0
        /// Valid RSA signatures of entries and assets.
        package var signatures = 0
        /// Unreferenced files of the tree.
        ///
        /// `gc` removes them later.
        package var unreferenced = 0
    }

    package var isWhole: Bool { !faults.contains { $0.rule.isFault } }
}

/// Descriptions of faults in signed metadata.
enum SignedFault {
    static func noTarget(_ name: ExactString) -> String { "\(name) is not a target of a channel" }
    static func length(_ found: Int, signed: Int) -> String { "it has \(found) bytes; the role lists \(signed)" }
    static func unlisted(_ role: String) -> String { "it does not list \(role)" }
}
