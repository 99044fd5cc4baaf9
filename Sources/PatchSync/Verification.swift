import PatchFormat
import PatchStore
import PatchTrust

/// What a full check of the installed selections looked at and found.
package struct VerificationReport: Equatable, Sendable {
    package var patches = 0
    package var files = 0
    /// RSA signatures of list entries and assets.
    package var signatures = 0
    package var faults: [String] = []
}

extension Device {
    /// Hashes every file of every kept selection and checks each entry's and asset's signature again, offline.
    ///
    /// Neither records nor expiry count here.
    package func verifyInstalled(signatures: Bool) throws(SyncError) -> VerificationReport {
        let state = try state()
        var report = VerificationReport()
        var seen: Set<PatchContent> = []
        for selection in state.machine.kept {
            for patch in selection.patches where seen.insert(patch.content).inserted {
                try verify(patch, of: selection, signatures: signatures, into: &report)
            }
        }
        return report
    }

    private func verify(
        _ patch: InstalledPatch,
        of selection: Selection,
        signatures: Bool,
        into report: inout VerificationReport
    ) throws(SyncError) {
        var examination = Examination(store: store, records: VerifiedRecords())
        report.patches += 1
        let faults = try examination.faults(of: patch)
        report.faults += faults.map { fault in
            switch fault.wrong {
            case .missing: "\(fault.file): is missing"
            case .differs(let field): "\(fault.file): its \(field) is not the listed one"
            case .unreadable: "\(fault.file): cannot be read"
            }
        }
        let manifest =
            patch.kind == .bundle && !faults.contains { $0.asset == nil } ? try examination.manifest(of: patch) : nil
        report.files += 1 + (manifest?.assets.count ?? 0)
        guard signatures else { return }
        do throws(EntryFault) {
            let statement = Statement.patch(
                app: configuration.app,
                channel: configuration.channel,
                patchID: patch.patchID,
                kind: patch.kind,
                version: patch.version,
                fingerprint: patch.fingerprint
            )
            try selection.entryKeys.check(patch.signature, over: statement, entry: patch.label.description)
            report.signatures += 1
        } catch { report.faults.append(error.description) }
        guard let manifest, let column = patch.column else { return }
        do throws(FormatError) {
            let columnBytes: [UInt8]
            do throws(FileError) { columnBytes = try store.objects.read(column, limit: Limits.signatureColumn) } catch {
                report.faults.append("\(patch.label) manifest.sigs: \(error)")
                return
            }
            let parsed = try SignatureColumn(columnBytes, assets: manifest.assets.count)
            for (asset, signature) in zip(manifest.assets, parsed.signatures) {
                do throws(EntryFault) {
                    try selection.entryKeys.check(
                        EntrySignature(keyID: parsed.keyID, bytes: signature),
                        over: asset.statement(app: configuration.app, patchID: patch.patchID),
                        entry: "\(patch.label) \(asset.path)"
                    )
                    report.signatures += 1
                } catch { report.faults.append(error.description) }
            }
        } catch { report.faults.append("\(patch.label) manifest.sigs: \(error)") }
    }
}
