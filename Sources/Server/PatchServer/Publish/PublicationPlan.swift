import PatchFormat
import PatchTrust
import SystemPackage

/// What is written, and in which order, to bring a published tree from one state to the next.
///
/// Every file of a step is on disk for good before the next step begins, and whatever a step's files refer to was
/// written by a step before it. The timestamp comes last: until it is replaced, readers see the old state whole, but for
/// one moment of an update of the root of trust. Roots are found by their number, so readers follow to a new one as soon
/// as it is there, and one with other keys for snapshot and timestamp makes them refuse the old timestamp and keep what
/// they have. Roots are therefore written when nothing but the timestamp is left to do; and after it where all that they
/// change are the keys of targets, and the new targets hold under the old root too: then no reader meets such a moment.
struct PublicationPlan: Sendable {
    enum Step: String, CaseIterable, Sendable {
        case contents, forms, targets, indexes, channel, dial, snapshot, records, roots, gateways, express, timestamp,
            lateRoots
    }

    struct Write: Sendable {
        enum Target: Hashable, Sendable {
            case tree(TreePath.File)
            /// A file beside `labels.json`, readable by the server alone.
            case record(String)
        }

        let target: Target
        let source: TreeWrite.Source
    }

    private(set) var writes: [Step: [Write]] = [:]

    /// Indexes are made of what stands after the steps before: theirs has no writes.
    var steps: [(step: Step, writes: [Write])] {
        Step.allCases.compactMap { step in
            (writes[step] ?? (step == .indexes && !packed.isEmpty ? [] : nil)).map { (step, $0) }
        }
    }

    /// The manifests that packs of it lead to.
    var packed: Set<SHA256Digest> {
        var found: Set<SHA256Digest> = []
        for case .tree(.basePack(let pack, _)) in (writes[.forms] ?? []).map(\.target) { found.insert(pack.manifest) }
        return found
    }

    mutating func write(_ bytes: [UInt8], to target: Write.Target, in step: Step) {
        write(.bytes(bytes), to: target, in: step)
    }

    mutating func write(_ source: TreeWrite.Source, to target: Write.Target, in step: Step) {
        writes[step, default: []].append(Write(target: target, source: source))
    }

    mutating func copy(_ file: FilePath, to digest: SHA256Digest) {
        write(.file(file, digest), to: .tree(.object(digest)), in: .contents)
    }
}
