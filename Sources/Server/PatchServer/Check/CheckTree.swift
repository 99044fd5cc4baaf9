import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Verifies all files of an app on this server: each role from the root of trust, each reference, digest and signature, the
/// releases available for a rollback, and the records beside the tree.
///
/// It only reads, and needs no lock: files that a publish or `gc` changed meanwhile are checked again.
package struct CheckTree: Sendable {
    /// How often a check begins anew because of a publish or a garbage collection meanwhile.
    private static let attempts = 8

    private let repository: AppRepository

    package init(of repository: AppRepository) { self.repository = repository }

    package func run() throws(ServerError) -> TreeReport {
        var attempt = 1
        while true {
            let before = try repository.storage.status(of: .timestamp)
            var check = try CheckPass(repository)
            check.run()
            if check.report.isWhole || attempt == Self.attempts { return check.report }
            let isPublished = try repository.storage.status(of: .timestamp) != before
            let isCollected = try check.lostNames()
            guard isPublished || isCollected else { return check.report }
            attempt += 1
        }
    }
}

/// One pass over all files of an app on a server.
///
/// It continues after a fault.
struct CheckPass {
    let repository: AppRepository
    let listing: TreeListing
    let documents: BundleDocuments
    var report: TreeReport
    /// Files already read, with their fingerprints; nil for unreadable ones.
    private var known: [TreePath.File: Fingerprint?] = [:]
    private var referenced: Set<TreePath.File> = []
    private let progress: Progress

    init(_ repository: AppRepository) throws(ServerError) {
        self.repository = repository
        report = TreeReport(app: repository.app)
        listing = try repository.storage.listing()
        documents = BundleDocuments(listing)
        progress = repository.progress(.checking, listing.files.count)
    }

    /// Whether files disappeared since this pass began.
    ///
    /// Then `gc` ran concurrently, and the missing files may be unneeded.
    func lostNames() throws(ServerError) -> Bool {
        let now = try repository.storage.listing()
        return listing.files.keys.contains { now.files[$0] == nil }
    }

    /// Checks the roles, the files that they refer to, the rest of the tree and the records beside it.
    mutating func run() {
        let labels = checkRecords()
        if let state = checkRoles() {
            for (channel, published) in state.channels.sorted(by: { $0.name < $1.name }) {
                check(published, of: channel, labels)
            }
            checkTargets(of: state.dial)
            checkSuperseded(state)
        }
        checkRest()
        progress(listing.files.count)
        report.faults.sort { ($0.path, $0.rule.rawValue) < ($1.path, $1.rule.rawValue) }
    }

    func path(of file: TreePath.File) -> String {
        "tree/\(repository.app)/\(TreePath(repository.app, file).path)"
    }

    mutating func add(_ file: TreePath.File, _ rule: TreeFault.Rule, _ detail: String, sha256: SHA256Digest? = nil) {
        let wanted = sha256.map { TreeFault.Wanted(file: file, sha256: $0) }
        let fault = TreeFault(path(of: file), rule, detail, wanted: wanted, form: rule == .form ? file : nil)
        guard !report.faults.contains(where: { $0.path == fault.path && $0.rule == rule }) else { return }
        report.faults.append(fault)
    }

    mutating func note(_ file: TreePath.File) {
        referenced.insert(file)
    }

    /// A role's bytes, or nil if it is missing, which is a fault.
    mutating func bytes(_ file: TreePath.File, limit: Int, sha256: SHA256Digest? = nil) -> [UInt8]? {
        note(file)
        guard listing.files[file] != nil else {
            add(file, .missing, "something refers to it", sha256: sha256)
            return nil
        }
        do throws(ServerError) {
            let bytes = try repository.tree.read(file, limit: limit)
            report.counts.bytes += bytes.count
            return bytes
        } catch {
            add(file, .altered, "\(error)", sha256: sha256)
            return nil
        }
    }

    /// The fingerprint of a file named by its digest, read once.
    ///
    /// Nil if it is missing or altered, which is a fault.
    mutating func fingerprint(_ file: TreePath.File, by referrer: String) -> Fingerprint? {
        note(file)
        guard let digest = file.digest else { return nil }
        if let known = known[file] { return known }
        let found = read(file, digest, by: referrer)
        known[file] = .some(found)
        progress(min(known.count, listing.files.count - 1))
        return found
    }

    private mutating func read(_ file: TreePath.File, _ digest: SHA256Digest, by referrer: String) -> Fingerprint? {
        guard listing.files[file] != nil else {
            add(file, .missing, "\(referrer) needs it", sha256: digest)
            return nil
        }
        do throws(ServerError) {
            guard let found = try repository.storage.fingerprint(of: file) else {
                add(file, .missing, "\(referrer) needs it", sha256: digest)
                return nil
            }
            report.counts.bytes += found.size
            if case .object = file { report.counts.objects += 1 } else { report.counts.targets += 1 }
            guard found.sha256 == digest else {
                add(file, .altered, "its bytes do not match the digest in its name", sha256: digest)
                return nil
            }
            return found
        } catch {
            add(file, .altered, "\(error)", sha256: digest)
            return nil
        }
    }

    /// Unreferenced files must match their names too: a later publish may reuse them.
    private mutating func checkRest() {
        for file in listing.files.keys where !referenced.contains(file) {
            switch file {
            case .target, .object:
                report.counts.unreferenced += 1
                _ = fingerprint(file, by: "nothing")
            case .role, .root, .timestamp: report.counts.unreferenced += 1
            case .compressed(let plain, let format): checkForm(file, of: plain, format)
            case .basePack(let pack, let part): checkPack(file, pack, part)
            case .packIndex(let manifest): checkPackIndex(file, of: manifest)
            // A pack is never a file of its own. Nothing refers to the others, and devices reject faulty ones.
            case .pack, .express, .gateway: break
            }
        }
        for path in listing.strangers {
            report.faults.append(
                TreeFault("tree/\(repository.app)/\(path)", .stranger, "unknown name")
            )
        }
    }
}
