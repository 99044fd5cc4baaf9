import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Stages a patch whose files are all stored: creates or repairs a bundle's folder, and checks the result.
struct InstallPatch {
    let task: PatchDownload

    func run(_ download: inout Download) throws(SyncError) {
        let (store, patch) = (download.store, task.wanted.patch)
        var verified: AssetManifest?
        switch task.content {
        case .bundle(let manifest, _):
            verified = manifest
            var staging = BundleStaging(store: store)
            staging.atCommitPoint = download.atCommitPoint
            let folderExists = try store.wrapped { () throws(FileError) in
                try store.files.status(of: store.bundle(patch.fingerprint.sha256))?.kind == .directory
            }
            if folderExists {
                // The existing folder may be served now, so only wrong files are replaced.
                let wrong = try download.check.faults(of: patch, manifest).compactMap(\.asset)
                try staging.heal(wrong, of: patch.fingerprint.sha256, &download.check)
            } else {
                try staging.stage(manifest, as: patch.fingerprint.sha256, &download.check)
            }
        case .script:
            // The file's digest was checked during the download. Whether it is valid text is checked now.
            download.check.forget(patch.fingerprint.sha256)
        }
        if let fault = try download.check.faults(of: patch, verified).first {
            let state = PatchState(
                wanted: patch.address,
                installed: task.wanted.current?.address,
                onDisk: fault.onDisk,
                launch: .notRunning
            )
            download.transfers.report(.state(patch.patchID, patch.version, state, fault: fault.onDisk.fault))
            throw fault.error
        }
        if patch.kind == .bundle {
            download.keepIndex(of: patch, verified)
            try store.wrapped { () throws(FileError) in try store.objects.removePack(of: patch.fingerprint.sha256) }
        }
        download.outcome.ready.insert(patch.content)
        download.outcome.transfers.arrive(patch)
        if !task.wanted.isNew { download.outcome.healed.append(patch.label) }
        let launch: PatchInLaunch = task.wanted.isNew ? .notRunning : .running
        let result = PatchState(wanted: patch.address, installed: patch.address, onDisk: .intact, launch: launch)
        download.transfers.report(.state(patch.patchID, patch.version, result, fault: nil))
    }
}

extension FileFault {
    fileprivate var error: SyncError {
        switch wrong {
        case .missing: .object(entry: file, field: "size")
        case .differs(let field): .object(entry: file, field: field)
        case .unreadable: .trust(.entry(EntryFault(entry: file, rule: .unreadable("is not UTF-8 text"))))
        }
    }
}
