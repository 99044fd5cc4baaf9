package import PatchFormat
package import PatchTesting
import PatchCrypto
import PatchTrust

/// One version of one patch that a simulated channel offers.
///
/// Nothing here is checked: hostile ones are published as they are.
package struct SimulatedPatch: Sendable {
    package enum Content: Sendable {
        case script([UInt8])
        /// In the order of the manifest.
        case bundle([File])
    }

    /// One row of a manifest and the bytes behind it.
    package struct File: Sendable {
        package var path: String
        package var bytes: [UInt8]
        package var url: String
        /// The path in the statement that is signed, where a row was moved.
        package var signedPath: String

        package init(_ path: String, _ text: String) {
            self.path = path
            bytes = Array(text.utf8)
            url = "/\(path)"
            signedPath = path
        }
    }

    /// What an entry's statements say of it, where that is not what it is.
    package struct Identity: Sendable {
        package var app: String?
        package var channel: String?
        package var patchID: String?
        package var version: String?

        package init(app: String? = nil, channel: String? = nil, patchID: String? = nil, version: String? = nil) {
            self.app = app
            self.channel = channel
            self.patchID = patchID
            self.version = version
        }
    }

    package let id: PatchID
    package let version: VersionLabel
    package var content: Content
    package var rules = PatchRules.everyone
    package var salt = [UInt8](repeating: 7, count: 16)
    package var requires: [PatchID: [SHA256Digest]] = [:]
    package var security: SecurityAdvisory?
    package var place = ScriptPlace.host
    /// Of a bundle's manifest.
    package var compatibility: [String: String] = [:]
    /// When a bundle's manifest was made; nil for when it is published.
    package var created: UTCTime?
    package var signedAs = Identity()
    /// Of the assets; the entry's is `signedAs`.
    package var assetsSignedAs = Identity()
    package var key = SimulatedKey.entry

    /// The same script, to run in pages.
    package func inPages(_ patterns: String..., side: ScriptPlace.Side = .page) -> SimulatedPatch {
        var patch = self
        patch.place = ScriptPlace(side, pages: patterns.isEmpty ? nil : patterns.compactMap { RoutePattern($0) })
        return patch
    }

    package static func script(
        _ id: String,
        _ version: String,
        _ text: String,
        rules: PatchRules = .everyone
    ) -> SimulatedPatch {
        SimulatedPatch(id: simulated(id), version: simulated(version), content: .script(Array(text.utf8)), rules: rules)
    }

    package static func bundle(
        _ id: String,
        _ version: String,
        _ files: [String: String],
        rules: PatchRules = .everyone
    ) -> SimulatedPatch {
        let rows = files.sorted { ExactString($0.key) < ExactString($1.key) }.map { File($0.key, $0.value) }
        return bundle(id, version, rows: rows, rules: rules)
    }

    package static func bundle(
        _ id: String,
        _ version: String,
        rows: [File],
        rules: PatchRules = .everyone
    ) -> SimulatedPatch {
        SimulatedPatch(id: simulated(id), version: simulated(version), content: .bundle(rows), rules: rules)
    }

    /// What its entry names: the text of a script, or of a bundle the manifest as it is published at `time`.
    package func named(in app: AppID, at time: UTCTime) -> [UInt8] {
        switch content {
        case .script(let bytes): bytes
        case .bundle(let files): manifest(of: files, in: app, at: created ?? time).fileBytes
        }
    }

    /// Written by hand, because an `AssetManifest` cannot hold what a hostile one does.
    private func manifest(of files: [File], in app: AppID, at time: UTCTime) -> JSON {
        let rows = files.map { file in
            let members: [(String, JSON?)] = [
                ("path", .text(file.path)), ("url", .text(file.url)), ("type", .text("asset")),
                ("cacheable", .bool(false)),
            ]
            return JSON.fields(members + Fingerprint(of: file.bytes).members)
        }
        return .fields([
            ("format", .text(AssetManifest.format)), ("app", .text(app.text)), ("patchId", .text(id.text)),
            ("version", .text(version.text)), ("created", .text(time.description)),
            ("compatibility", .fields(compatibility.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })),
            ("index", .text("index.html")), ("assets", .array(rows)),
        ])
    }

    /// The same with one thing changed.
    package func with(_ change: (inout SimulatedPatch) -> Void) -> SimulatedPatch {
        var copy = self
        change(&copy)
        return copy
    }
}

/// A name that a test wrote itself.
func simulated<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}

/// The documents and objects of a list that is being made.
struct SimulatedDocuments {
    let app: AppID
    let channel: ChannelName
    private(set) var entries: [PatchEntry] = []
    private(set) var targets: [TargetPath: [UInt8]] = [:]
    private(set) var objects: [SHA256Digest: [UInt8]] = [:]

    init(app: AppID, channel: ChannelName, patches: [SimulatedPatch], serial: Int, at time: UTCTime) {
        self.app = app
        self.channel = channel
        for patch in patches { add(patch, at: time) }
        targets[.patchList(channel)] =
            PatchList(app: app, channel: channel, serial: serial, published: time, entries: entries).json.fileBytes
    }

    private mutating func add(_ patch: SimulatedPatch, at time: UTCTime) {
        let named = patch.named(in: app, at: time)
        switch patch.content {
        case .script:
            objects[SHA256Digest(of: named)] = named
            addEntry(patch, .script, Fingerprint(of: named))
        case .bundle(let files):
            for file in files { objects[SHA256Digest(of: file.bytes)] = file.bytes }
            targets[.manifest(channel: channel, patchID: patch.id, version: patch.version)] = named
            targets[.signatureColumn(channel: channel, patchID: patch.id, version: patch.version)] =
                SignatureColumn(
                    keyID: patch.key.entryKeyID,
                    signatures: files.map { patch.key.signature(over: statement(of: $0, in: patch)) }
                ).bytes
            addEntry(patch, .bundle, Fingerprint(of: named))
        }
    }

    private func statement(of file: SimulatedPatch.File, in patch: SimulatedPatch) -> [UInt8] {
        let named: [(String, JSON?)] = [
            ("app", .text(patch.assetsSignedAs.app ?? app.text)),
            ("patchId", .text(patch.assetsSignedAs.patchID ?? patch.id.text)), ("path", .text(file.signedPath)),
        ]
        return Array(Statement.assetPrefix.utf8)
            + JSON.fields(named + Fingerprint(of: file.bytes).members).canonicalBytes
    }

    private mutating func addEntry(_ patch: SimulatedPatch, _ kind: PatchKind, _ fingerprint: Fingerprint) {
        let identity = patch.signedAs
        let statement = Statement.patch(
            app: identity.app.map(simulated) ?? app,
            channel: identity.channel.map(simulated) ?? channel,
            patchID: identity.patchID.map(simulated) ?? patch.id,
            kind: kind,
            version: identity.version.map(simulated) ?? patch.version,
            fingerprint: fingerprint
        )
        let url = URLLayout.entry(
            kind: kind,
            channel: channel,
            patchID: patch.id,
            version: patch.version,
            sha256: fingerprint.sha256
        )
        entries.append(
            PatchEntry(
                patchID: patch.id,
                kind: kind,
                version: patch.version,
                url: url,
                fingerprint: fingerprint,
                signature: EntrySignature(keyID: patch.key.entryKeyID, bytes: patch.key.signature(over: statement)),
                salt: patch.salt,
                requires: patch.requires,
                rules: patch.rules,
                security: patch.security,
                place: patch.place
            )
        )
    }
}
