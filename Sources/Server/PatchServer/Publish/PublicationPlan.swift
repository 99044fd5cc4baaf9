import PatchFormat
import PatchTrust
import SystemPackage

/// The files to write, and their order, to move a published tree from one state to the next.
///
/// Every file of a step is durable before the next step begins, and the files that it refers to were written by an earlier step.
/// The timestamp is last: until it is replaced, readers see the complete old state, except for one moment of an update of the root
/// of trust. Roots are found by their number, so readers follow to a new one as soon as it exists. A root with other keys for
/// snapshot and timestamp makes them reject the old timestamp and keep their files. Roots are therefore written when only the
/// timestamp is left. They are written after it if they change only the keys of targets, and the new targets are valid under the
/// old root too. Then no reader is affected.
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

    /// Indexes are derived from the files of the previous steps, so that step has no writes.
    var steps: [(step: Step, writes: [Write])] {
        Step.allCases.compactMap { step in
            (writes[step] ?? (step == .indexes && !packed.isEmpty ? [] : nil)).map { (step, $0) }
        }
    }

    /// The manifests that the plan's packs lead to.
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
