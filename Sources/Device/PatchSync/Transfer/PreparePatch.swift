import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Checks the files of a wanted patch, and finds the missing ones.
struct PreparePatch {
    let wanted: SyncPlan.Wanted

    /// Checks the files on disk, and the manifest of a bundle that is not complete.
    ///
    /// - Returns: nil if the patch is complete.
    func run(_ download: inout Download) async throws(SyncError) -> PatchDownload? {
        let patch = wanted.patch
        let faults = try download.check.faults(of: patch)
        let state = state(faults)
        // If a newer version of the patch failed or waits, that is reported, and the fallback is only checked.
        let isFallback =
            !wanted.isNew
            && (download.outcome.failures.contains { $0.patchID == patch.patchID }
                || download.outcome.putOff.contains { $0.content.patchID == patch.patchID })
        if !isFallback || !faults.isEmpty {
            let fault = wanted.isNew ? nil : faults.first?.onDisk.fault
            download.transfers.report(.state(patch.patchID, patch.version, state, fault: fault))
        }
        let isUnproven = try isUnproven(in: download.store)
        guard state.work == .download || isUnproven else {
            if download.signatures == .required, download.listed(patch) != nil,
                try !download.check.hasCheckedColumn(of: patch)
            {
                // Downloads the signature column if it is missing, checks it and stores it.
                let isAvailable = try download.check.hasColumn(of: patch)
                _ = try await DownloadManifest(wanted: wanted).run(&download)
                if !isAvailable { download.outcome.healed.append(patch.label) }
            }
            if wanted.isNew, patch.kind == .bundle, let manifest = try download.check.manifest(of: patch) {
                try gate(manifest, download.plan, isOnDisk: true)
            }
            if patch.kind == .bundle, !download.check.hasIndex(of: patch) { download.keepIndex(of: patch) }
            download.outcome.ready.insert(patch.content)
            download.outcome.transfers.arrive(patch)
            return nil
        }
        for digest in faults.compactMap({ $0.asset?.fingerprint.sha256 }) { download.check.forget(digest) }
        switch patch.kind {
        case .script:
            download.check.forget(patch.fingerprint.sha256)
            let isMissing = try !download.isIntact(patch.fingerprint)
            if isMissing { try download.admit([patch.fingerprint], for: wanted) }
            return PatchDownload(wanted: wanted, content: .script(isMissing: isMissing))
        case .bundle:
            let before = download.outcome.filesReceived
            try download.admitDocuments(of: wanted)
            let (manifest, pack) = try await DownloadManifest(wanted: wanted).run(&download)
            if download.outcome.filesReceived > before { download.outcome.transfers.move(patch) }
            try gate(manifest, download.plan, isOnDisk: false)
            var missing: [Int32] = []
            for (row, asset) in manifest.assets.enumerated() where try !download.isIntact(asset.fingerprint) {
                missing.append(Int32(row))
            }
            let needs = try download.admit(missing.map { manifest.assets[Int($0)].fingerprint }, for: wanted)
            if let pack {
                missing = try TakePack(pack: pack, patch: patch).run(missing, of: manifest, &download)
                // The files of the pack are stored now.
                download.promised -= needs
                try download.admit(missing.map { manifest.assets[Int($0)].fingerprint }, for: wanted)
            }
            return PatchDownload(wanted: wanted, content: .bundle(manifest, missing: missing))
        }
    }

    /// Whether a new bundle's signatures may never have been checked.
    ///
    /// All its files may be embedded without its folder, which is created only after the check.
    private func isUnproven(in store: DeviceStore) throws(SyncError) -> Bool {
        guard wanted.isNew, wanted.patch.kind == .bundle else { return false }
        let folder = store.bundle(wanted.patch.fingerprint.sha256)
        return try store.wrapped { () throws(FileError) in try store.files.status(of: folder)?.kind != .directory }
    }

    /// Rejects a bundle that this device must not install, before any of its assets is requested.
    private func gate(_ manifest: AssetManifest, _ plan: SyncPlan, isOnDisk: Bool) throws(SyncError) {
        let content = wanted.patch.content
        let device = plan.context.device
        var facts = BundleDecision.Facts()
        facts.current = wanted.current?.content
        facts.pending = plan.pending?[content.patchID]?.content
        facts.blockStatus = plan.context.blocks.status(of: content, at: device.time, retryNow: device.retryNow)
        facts.platform = device.platform
        facts.isOnDisk = isOnDisk
        switch BundleDecision(content, compatibility: manifest.compatibility, facts: facts) {
        case .ignore, .ready, .download: return
        case .refuse(.blacklisted(let until)): throw .blacklisted(wanted.patch.label, until: until)
        case .refuse(.incompatible(let platform, let needs)):
            throw .incompatible(wanted.patch.label, platform, needs: needs)
        }
    }

    private func state(_ faults: [FileFault]) -> PatchState {
        let onDisk: PatchOnDisk =
            switch (faults.first, wanted.isNew) {
            case (nil, _): .intact
            case (_?, true): .absent
            case (let fault?, false): fault.onDisk
            }
        return PatchState(
            wanted: wanted.patch.address,
            installed: wanted.current?.address,
            onDisk: onDisk,
            launch: wanted.isNew ? .notRunning : .running
        )
    }
}

extension FileFault {
    var onDisk: PatchOnDisk {
        switch wrong {
        case .missing: .missing(file)
        case .differs(let field): .damaged(file, field: field)
        case .unreadable: .unreadable(file)
        }
    }
}
