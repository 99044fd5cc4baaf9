package import PatchFormat
package import PatchServer
package import PatchStore
import PatchCrypto
import PatchTesting
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// What a release pipeline makes, without `patchsign`: the root of trust and signed releases of one app.
package struct ReleaseFactory {
    package static let app: AppID = named("com.example.storefront")
    package static let production: ChannelName = named("production")
    package static let beta: ChannelName = named("beta")

    package let files: any FileOperations
    /// Where the bytes of objects lie until they are published.
    package let folder: FilePath
    package var now: UTCTime
    package var productionThreshold = 1

    /// One version of what the sample channel offers.
    package struct Contents {
        package var scripts: [String: (version: String, text: String)]
        package var web: (version: String, files: [String: String])?
        /// More bundles of version 1, by id.
        package var bundles: [(id: String, files: [String: String])]
        /// Older versions of scripts, listed below the newest.
        package var earlier: [(id: String, version: String, text: String)]
        /// By patch id; else everybody may take it.
        package var rules: [String: PatchRules]

        package init(
            scripts: [String: (version: String, text: String)] = ["fix-cart-total": ("1", "cart.total = 1;")],
            web: (version: String, files: [String: String])? = (
                "1.0.0", ["index.html": "<p>one</p>", "app/main.js": "console.log(1);"]
            ),
            bundles: [(id: String, files: [String: String])] = [],
            earlier: [(id: String, version: String, text: String)] = [],
            rules: [String: PatchRules] = [:]
        ) {
            (self.scripts, self.web, self.bundles) = (scripts, web, bundles)
            (self.earlier, self.rules) = (earlier, rules)
        }
    }

    package init(files: any FileOperations, folder: FilePath, now: UTCTime, productionThreshold: Int = 1) {
        (self.files, self.folder, self.now) = (files, folder, now)
        self.productionThreshold = productionThreshold
    }

    /// A base that nobody published.
    package static func base(_ version: Int) -> ReleaseHeader.Base {
        ReleaseHeader.Base(roleVersion: version, sha256: SHA256Digest(of: []))
    }

    package func root(app: AppID = app, expires: UTCTime? = nil) throws -> Envelope {
        let online = RoleDocument.Signers(keys: [try TestingKey.online.signer], threshold: 1)
        return try RoleDocument.root(
            app: app,
            version: 1,
            expires: expires ?? now.adding(.days(365)),
            roles: [
                "root": .init(keys: [try TestingKey.root.signer], threshold: 1),
                "targets": .init(keys: [try TestingKey.targets.signer], threshold: 1), "snapshot": online,
                "timestamp": online,
            ]
        ).signed(by: [.root])
    }

    package func targets(dialKey: TestingKey = .online) throws -> Envelope {
        try RoleDocument.targets(
            version: 1,
            expires: now.adding(.days(365)),
            delegations: [
                .channel(
                    Self.production,
                    signers: .init(
                        keys: [try TestingKey.production.signer, try TestingKey.second.signer],
                        threshold: productionThreshold
                    )
                ),
                .channel(Self.beta, signers: .init(keys: [try TestingKey.beta.signer], threshold: 1)),
                .dial(signers: .init(keys: [try dialKey.signer], threshold: 1)),
            ]
        ).signed(by: [.targets])
    }

    /// A release on the state that `repository` publishes now.
    package func release(
        _ contents: Contents = Contents(),
        on repository: AppRepository,
        channel: ChannelName = production,
        signedBy keys: [TestingKey] = [.production],
        altering alter: (inout [TargetPath: [UInt8]]) -> Void = { _ in }
    ) throws -> SignedRelease {
        let current = try PublishedState(of: repository).channels[channel]
        let base = current.map { ReleaseHeader.Base(roleVersion: $0.role.header.version, sha256: $0.identity) }
        return try release(contents, base: base, channel: channel, signedBy: keys, altering: alter)
    }

    /// - Parameter alter: what a broken or hostile pipeline does to the targets before it signs the role.
    package func release(
        _ contents: Contents = Contents(),
        base: ReleaseHeader.Base?,
        channel: ChannelName = production,
        signedBy keys: [TestingKey],
        altering alter: (inout [TargetPath: [UInt8]]) -> Void = { _ in }
    ) throws -> SignedRelease {
        let header = ReleaseHeader(app: Self.app, channel: channel, base: base)
        var parts = ReleaseParts(channel: channel, rules: contents.rules)
        for (id, script) in contents.scripts.sorted(by: { $0.key < $1.key }) {
            try parts.addScript(id, script.version, script.text)
        }
        for script in contents.earlier { try parts.addScript(script.id, script.version, script.text) }
        if let web = contents.web { try parts.addBundle("web", web.version, web.files, at: now) }
        for bundle in contents.bundles { try parts.addBundle(bundle.id, "1", bundle.files, at: now) }
        parts.addList(serial: header.roleVersion, at: now)
        var targets = parts.targets
        alter(&targets)
        let role = try RoleDocument.delegated(
            channel.text,
            version: header.roleVersion,
            expires: now.adding(.days(90)),
            targets: targets.mapValues { TargetFile(of: $0) },
            entryKeys: EntryKeys([try TestingKey.entry.key.publicKey])
        ).signed(by: keys)
        return SignedRelease(header: header, role: role, targets: targets, objects: try store(parts.objects))
    }

    private func store(_ objects: [SHA256Digest: [UInt8]]) throws -> [SHA256Digest: FilePath] {
        try files.makeDirectory(folder)
        defer { try? files.syncDirectory(folder) }
        return try Dictionary(
            uniqueKeysWithValues: objects.map { digest, bytes in
                let path = folder.appending(digest.hex)
                if try files.status(of: path) == nil { try files.write(bytes, to: path) }
                return (digest, path)
            }
        )
    }
}

/// The documents and objects of a release that is being made.
package struct ReleaseParts {
    package let channel: ChannelName
    package let rules: [String: PatchRules]
    package private(set) var entries: [PatchEntry] = []
    package private(set) var targets: [TargetPath: [UInt8]] = [:]
    package private(set) var objects: [SHA256Digest: [UInt8]] = [:]

    package init(channel: ChannelName, rules: [String: PatchRules] = [:]) {
        self.channel = channel
        self.rules = rules
    }

    package mutating func addScript(_ id: String, _ version: String, _ text: String) throws {
        try addEntry(named(id), .script, named(version), try addObject(text))
    }

    package mutating func addBundle(_ id: String, _ version: String, _ files: [String: String], at time: UTCTime) throws
    {
        let key = try TestingKey.entry.key
        let (id, version): (PatchID, VersionLabel) = (named(id), named(version))
        var assets: [Asset] = []
        for (name, text) in files {
            let path = try AssetPath(name)
            assets.append(
                Asset(
                    path: path,
                    url: "/\(name)",
                    type: AssetType(path: path),
                    cacheable: false,
                    sourceMap: nil,
                    fingerprint: try addObject(text)
                )
            )
        }
        assets.sort { $0.path < $1.path }
        let manifest = AssetManifest(
            app: ReleaseFactory.app,
            patchID: id,
            version: version,
            commit: nil,
            created: time,
            compatibility: [:],
            index: try AssetPath("index.html"),
            routes: nil,
            assets: assets
        ).json.fileBytes
        let signatures = try assets.map {
            try key.sign($0.statement(app: ReleaseFactory.app, patchID: id), scheme: .rsaPKCS1v15)
        }
        targets[.manifest(channel: channel, patchID: id, version: version)] = manifest
        targets[.signatureColumn(channel: channel, patchID: id, version: version)] =
            SignatureColumn(keyID: EntryKeys.id(of: key.publicKey), signatures: signatures).bytes
        try addEntry(id, .bundle, version, Fingerprint(of: manifest))
    }

    package mutating func addList(serial: Int, at time: UTCTime) {
        targets[.patchList(channel)] =
            PatchList(app: ReleaseFactory.app, channel: channel, serial: serial, published: time, entries: entries)
            .json.fileBytes
    }

    private mutating func addObject(_ text: String) throws -> Fingerprint {
        let fingerprint = Fingerprint(of: Array(text.utf8))
        objects[fingerprint.sha256] = Array(text.utf8)
        return fingerprint
    }

    private mutating func addEntry(
        _ id: PatchID,
        _ kind: PatchKind,
        _ version: VersionLabel,
        _ fingerprint: Fingerprint
    ) throws {
        let key = try TestingKey.entry.key
        let statement = Statement.patch(
            app: ReleaseFactory.app,
            channel: channel,
            patchID: id,
            kind: kind,
            version: version,
            fingerprint: fingerprint
        )
        entries.append(
            PatchEntry(
                patchID: id,
                kind: kind,
                version: version,
                url: URLLayout.entry(
                    kind: kind,
                    channel: channel,
                    patchID: id,
                    version: version,
                    sha256: fingerprint.sha256
                ),
                fingerprint: fingerprint,
                signature: EntrySignature(
                    keyID: EntryKeys.id(of: key.publicKey),
                    bytes: try key.sign(statement, scheme: .rsaPKCS1v15)
                ),
                salt: Array(repeating: 7, count: 16),
                rules: rules[id.text] ?? .everyone
            )
        )
    }
}
