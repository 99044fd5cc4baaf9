import Gateways
import PatchFormat
import PatchStore
package import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The keys for packages of JSPatch's clients: the pair whose public half the apps contain, and the key that encrypts scripts.
package struct PackageKeys: Sendable {
    package let signer: JSPatchSigner
    /// The key of the platform's packages.
    ///
    /// The loader's packages are not encrypted.
    package let encryption: AESKey?
    /// Whether the keys may differ from those of the previous package.
    package let mayDiffer: Bool

    package init(signer: JSPatchSigner, encryption: AESKey?, mayDiffer: Bool = false) {
        self.signer = signer
        self.encryption = encryption
        self.mayDiffer = mayDiffer
    }
}

/// Makes the packages of a draft.
struct PackageMaking: Sendable {
    struct Made: Sendable {
        let gateways: [GatewayPackages]
        /// The new packages.
        let objects: [SHA256Digest: [UInt8]]
        let warnings: [DescriptionError]
    }

    /// Nil if no new package is made.
    let keys: PackageKeys?
    let files: any FileOperations
    /// Returns the path of a script or package, if it is stored locally.
    let object: @Sendable (SHA256Digest) -> FilePath?
    /// Scripts and packages that were fetched, because they are stored only on the server.
    var fetched: [SHA256Digest: [UInt8]] = [:]

    /// The scripts needed for new packages, and packages to compare with, that are not available locally; each once.
    func absent(_ draft: PackageDraft) -> [SHA256Digest] {
        guard let keys else { return [] }
        var wanted: Set<SHA256Digest> = []
        for row in draft.rows {
            guard let new = row.new, row.line.wire == .loader || keys.encryption != nil else { continue }
            wanted.formUnion(new.contents.values)
            if let last = row.last, !keys.mayDiffer { wanted.insert(last.fingerprint.sha256) }
        }
        return wanted.filter { object($0) == nil && fetched[$0] == nil }.sorted()
    }

    func make(_ draft: PackageDraft) throws(SigningError) -> Made {
        var (gateways, objects): ([GatewayPackages], [SHA256Digest: [UInt8]]) = ([], [:])
        var warnings: [DescriptionError] = []
        let unmade = draft.rows.compactMap(unmade)
        if let first = unmade.first { throw .noPackageKey(first, others: Array(unmade.dropFirst())) }
        for row in draft.rows {
            var made: GatewayPackages.Package?
            if let new = row.new, let bytes = try package(new, of: row) {
                let fingerprint = Fingerprint(of: bytes)
                objects[fingerprint.sha256] = bytes
                made = .init(version: new.version, fingerprint: fingerprint, contents: new.contents)
            }
            if let new = row.new, made == nil {
                let keys = row.line.wire == .loader ? "--jspatch-key" : "--jspatch-key and --aes-key"
                let rule =
                    "the package that its scripts need was not made; "
                    + "the next release with \(keys) makes version \(new.version)"
                warnings.append(DescriptionError("\(row.line)", rule: rule))
            }
            if let row = row.packages(made) { gateways.append(row) }
        }
        warnings += draft.warnings.map { DescriptionError($0.field, rule: $0.rule) }
        return Made(gateways: gateways, objects: objects, warnings: warnings + foreignKeys(draft))
    }

    /// Warns if the encryption key is the one that clients of one app version derive from its name: clients of other versions
    /// derive another.
    private func foreignKeys(_ draft: PackageDraft) -> [DescriptionError] {
        guard let encryption = keys?.encryption else { return [] }
        let lines = draft.rows.filter { $0.new != nil }.map(\.line)
        var warnings: [DescriptionError] = []
        // A release has one app key: a description names one, and wires with another key are carried over.
        for (appKey, lines) in Dictionary(grouping: lines, by: \.wire.appKey) {
            guard let appKey else { continue }
            // Two keys are equal if they encrypt an empty input to the same bytes. The keys themselves are not exposed.
            let own = lines.filter { line in
                AESKey(PlatformPlace(appKey, line.appVersion).ownKey)?.encrypted([]) == encryption.encrypted([])
            }
            guard let first = own.first, let other = lines.first(where: { !own.contains($0) }) else { continue }
            let rule =
                "clients of app version \(first.appVersion) derive it from \(appKey)_\(first.appVersion)_jp; those of "
                + "\(other.appVersion) derive another and cannot open their package"
            warnings.append(DescriptionError("--aes-key", rule: rule))
        }
        return warnings
    }

    /// The package that a row needs but cannot have; nil if nothing is missing or the package is optional.
    private func unmade(_ row: PackageDraft.Row) -> UnmadePackage? {
        guard let new = row.new else { return nil }
        let isPlatform = row.line.wire != .loader
        let options =
            (keys == nil ? ["--jspatch-key"] : []) + (isPlatform && keys?.encryption == nil ? ["--aes-key"] : [])
        guard !options.isEmpty else { return nil }
        switch new.need {
        case .described: return UnmadePackage(row.line, new.version, options: options, without: nil)
        case .carried: return UnmadePackage(row.line, new.version, options: options, without: row.withoutNew)
        case .ifPossible: return nil
        }
    }

    /// Returns nil if a key is missing and the package is optional.
    private func package(
        _ new: PackageDraft.New,
        of row: PackageDraft.Row
    ) throws(SigningError) -> [UInt8]? {
        let line = row.line
        let place = LoaderPlace(line.appVersion, new.version)
        let name = FilePath(line.path(new.version))
        guard let keys else { return nil }
        switch line.wire {
        case .loader:
            try checkSame(keys, row, new)
            let scripts = try scripts(new, for: place, in: name)
            return try LoaderPacking.bytes(scripts, of: name, signedBy: keys.signer)
        case .platform:
            guard let encryption = keys.encryption else { return nil }
            try checkSame(keys, row, new)
            let scripts = try scripts(new, for: place, in: name)
            return try PlatformPacking.bytes(scripts, of: name, signedBy: keys.signer, encryptedBy: encryption)
        }
    }

    /// Checks that the keys are those of the previous package.
    ///
    /// An app has one pair and one encryption key, and rejects packages made with others. The check is skipped if the previous
    /// package is not available.
    private func checkSame(
        _ keys: PackageKeys,
        _ row: PackageDraft.Row,
        _ new: PackageDraft.New
    ) throws(SigningError) {
        guard !keys.mayDiffer, let last = row.last,
            let bytes = try? bytes(last.fingerprint.sha256, Limits.loaderPackage)
        else { return }
        func other(_ option: String) -> SigningError {
            .otherPackageKey(row.line, last.version, new.version, option: option)
        }
        switch row.line.wire {
        case .loader:
            do throws(LoaderError) { _ = try VerifiedScripts(LoaderPackage(bytes), by: keys.signer.publicKey) } catch {
                if case .signature = error { throw other("--jspatch-key") }
            }
        case .platform:
            guard let encryption = keys.encryption else { return }
            do throws(PlatformError) {
                _ = try OpenedPlatformPackage(
                    PlatformPackage(bytes),
                    by: keys.signer.publicKey,
                    openedWith: encryption
                )
            } catch {
                if case .signature = error { throw other("--jspatch-key") }
                throw other("--aes-key")
            }
        }
    }

    private func bytes(_ digest: SHA256Digest, _ limit: Int) throws(SigningError) -> [UInt8] {
        if let bytes = fetched[digest] { return bytes }
        let url = URLLayout.object(digest)
        guard let file = object(digest) else { throw .release(FilePath(url), .missing(url)) }
        let bytes = try onDisk { () throws(FileError) in try files.read(file, limit: limit) }
        guard SHA256Digest(of: bytes) == digest else { throw .bundle(.changed(file)) }
        return bytes
    }

    private func scripts(
        _ new: PackageDraft.New,
        for place: LoaderPlace,
        in package: FilePath
    ) throws(SigningError) -> LoaderScripts {
        var scripts: [ScriptName: [UInt8]] = [:]
        var left = Limits.loaderScripts
        for (name, digest) in new.contents.sorted(by: { $0.key < $1.key }) {
            let bytes = try bytes(digest, left)
            left -= bytes.count
            scripts[name] = bytes
        }
        return try LoaderPacking.packing(package) { () throws(LoaderError) in try LoaderScripts(scripts, for: place) }
    }
}
