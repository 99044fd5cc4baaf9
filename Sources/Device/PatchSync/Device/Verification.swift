import NIOConcurrencyHelpers
import PatchChoice
package import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust

/// The checks and faults of a full verification of the installed selections.
package struct VerificationReport: Equatable, Sendable {
    package var patches = 0
    /// Every check, in the order in which it was made.
    package var checks: [CheckRecord] = []
    /// Bundles whose entry signatures were requested but skipped, because of this device's setting.
    package var unchecked: [Label] = []

    package var files: Int { checks.count { $0.rule == .fingerprint } }
    /// The number of valid RSA signatures of list entries and assets.
    package var signatures: Int {
        checks.count { $0.holds && ($0.rule == .entrySignature || $0.rule == .assetSignature) }
    }
    package var faults: [String] { checks.compactMap(\.fault) }
}

extension Device {
    /// Hashes every file of every kept selection and checks the signature of each entry and asset again, offline.
    ///
    /// Records of earlier checks and expiry are ignored. A device that only requires the signatures of list entries skips those of
    /// assets.
    ///
    /// - Parameter progress: Receives the number of checked files.
    package func verifyInstalled(
        signatures: Bool,
        progress start: ProgressStart = { _ in { _ in } }
    ) throws(SyncError) -> VerificationReport {
        let state = try state()
        var report = VerificationReport()
        var seen: Set<PatchContent> = []
        let installed = state.machine.kept.flatMap { selection in
            selection.patches.filter { seen.insert($0.content).inserted }.map { ($0, selection.entryKeys) }
        }
        let total = installed.reduce(0) { $0 + files(of: $1.0) }
        let (progress, done) = (start(total), NIOLockedValueBox(0))
        for (patch, keys) in installed {
            report.patches += 1
            if signatures, patch.column != nil, configuration.entrySignatures == .manifest {
                report.unchecked.append(patch.label)
            }
            report.checks += try checks(of: patch, keys: signatures ? keys : nil) { files in
                let number = done.withLockedValue { done in
                    done += files
                    return done
                }
                progress(min(number, total - 1))
            }
        }
        progress(total)
        return report
    }

    /// The number of files of a patch.
    ///
    /// A bundle whose manifest is unreadable counts as none.
    private func files(of patch: InstalledPatch) -> Int {
        guard patch.kind == .bundle else { return 1 }
        let check = IntegrityCheck(store: store, records: VerifiedRecords(), shipped: VerifiedRecords())
        return (try? check.manifest(of: patch))??.assets.count ?? 0
    }

    /// - Parameter keys: The keys that signed the entries, or nil to skip signatures.
    private func checks(
        of patch: InstalledPatch,
        keys: EntryKeys?,
        looked: @escaping @Sendable (_ files: Int) -> Void
    ) throws(SyncError) -> [CheckRecord] {
        var check = IntegrityCheck(store: store, records: VerifiedRecords(), shipped: VerifiedRecords())
        check.looked = looked
        let faults = try check.faults(of: patch)
        let manifest =
            patch.kind == .bundle && !faults.contains { $0.asset == nil } ? try check.manifest(of: patch) : nil
        let files = CheckRecord.files(of: patch, manifest: manifest, faults: faults)
        guard let keys else { return files }
        let entry = CheckRecord(.entrySignature, of: patch.label.description, key: patch.signature.keyID) {
            () throws(EntryFault) in
            let statement = Statement.patch(
                app: configuration.app,
                channel: patch.channel ?? configuration.channel,
                patchID: patch.patchID,
                kind: patch.kind,
                version: patch.version,
                fingerprint: patch.fingerprint
            )
            try keys.check(patch.signature, over: statement, entry: patch.label.description)
        }
        guard let manifest, let column = patch.column, configuration.entrySignatures == .required else {
            return files + [entry]
        }
        return files + [entry] + assetSignatures(of: patch, manifest, column, keys: keys)
    }

    private func assetSignatures(
        of patch: InstalledPatch,
        _ manifest: AssetManifest,
        _ column: SHA256Digest,
        keys: EntryKeys
    ) -> [CheckRecord] {
        let name = "\(patch.label) manifest.sigs"
        let parsed: SignatureColumn
        do {
            let path = try store.place(of: column).path
            guard try store.files.status(of: path) != nil else {
                let fault = "\(name): is missing, as after `--entry-signatures manifest`; the next sync downloads it"
                return [CheckRecord(.assetSignature, of: name, fault: fault)]
            }
            let bytes = try store.files.read(path, limit: Limits.signatureColumn)
            parsed = try SignatureColumn(bytes, assets: manifest.assets.count)
        } catch { return [CheckRecord(.assetSignature, of: name, fault: "\(name): \(error)")] }
        return zip(manifest.assets, parsed.signatures).map { asset, signature in
            let name = "\(patch.label) \(asset.path)"
            return CheckRecord(.assetSignature, of: name, key: parsed.keyID) { () throws(EntryFault) in
                try keys.check(
                    EntrySignature(keyID: parsed.keyID, bytes: signature),
                    over: asset.statement(app: configuration.app, patchID: patch.patchID),
                    entry: name
                )
            }
        }
    }
}

extension CheckRecord {
    /// Records the result of `check`.
    fileprivate init(
        _ rule: Rule,
        of subject: String,
        key: SHA256Digest,
        _ check: () throws(EntryFault) -> Void
    ) {
        do throws(EntryFault) {
            try check()
            self.init(rule, of: subject, key: key)
        } catch {
            self.init(rule, of: subject, key: key, fault: error.description)
        }
    }

    /// The results of hashing a patch's files, file by file.
    fileprivate static func files(
        of patch: InstalledPatch,
        manifest: AssetManifest?,
        faults: [FileFault]
    ) -> [CheckRecord] {
        let whole = patch.kind == .bundle ? "\(patch.label) manifest" : patch.label.description
        let names = [whole] + (manifest?.assets.map { "\(patch.label) \($0.path)" } ?? [])
        let wrong = Dictionary(faults.map { ($0.file, $0.words) }) { first, _ in first }
        return names.map { CheckRecord(.fingerprint, of: $0, fault: wrong[$0]) }
    }
}

extension FileFault {
    var words: String {
        switch wrong {
        case .missing: "\(file): is missing"
        case .differs(let field): "\(file): its \(field) is not the listed one"
        case .unreadable: "\(file): cannot be read"
        }
    }
}
