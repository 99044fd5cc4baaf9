package import PatchFormat
import PatchCrypto
import PatchTrust

/// The list of a release before it is signed, derived from the description and the base's list.
///
/// Pure: no file, no clock, no key.
package struct ReleaseDraft: Equatable, Sendable {
    /// One row of the new list.
    package struct Row: Equatable, Sendable {
        package let label: Label
        package let kind: PatchKind
        package let fingerprint: Fingerprint
        package let salt: [UInt8]
        package var requires: [PatchID: [SHA256Digest]]
        package let rules: PatchRules
        package let security: SecurityAdvisory?
        package let place: ScriptPlace
        package let gateways: [Gateway]
        /// The base's signature over the same statement, if any.
        package let known: EntrySignature?
        /// The base's signatures in JSPatch's form, if any.
        package let knownJSPatch: JSPatchForm?
    }

    /// A described patch with the fingerprint of its bytes.
    package struct Described: Sendable {
        package let patch: DescribedPatch
        /// The fingerprint of the script or of the bundle's manifest.
        package let fingerprint: Fingerprint
        package let manifest: AssetManifest?

        package init(_ patch: DescribedPatch, fingerprint: Fingerprint, manifest: AssetManifest? = nil) {
            self.patch = patch
            self.fingerprint = fingerprint
            self.manifest = manifest
        }
    }

    package let rows: [Row]
    /// Versions withdrawn by name in this release, besides those that the base names.
    private var withdrawn: [Label: SHA256Digest] = [:]

    /// The described list.
    ///
    /// The remaining versions of the base follow each patch.
    ///
    /// - Throws: `unlisted` if the base lists an id that is not described, `republished` if it lists a label with other content,
    ///   `withdrawn` if it names the content as withdrawn, `unmet` if the list lacks a requirement of a described patch.
    package init(_ described: [Described], base: ReleaseContents?) throws(SigningError) {
        let ids = Set(described.map(\.patch.patchID))
        let missing = (base?.list.patchIDs ?? []).filter { !ids.contains($0) }
        guard missing.isEmpty else { throw .unlisted(missing) }
        var rows: [Row] = []
        for next in described {
            rows.append(try Self.row(next, base: base))
            let others = (base?.versions(of: next.patch.patchID) ?? []).filter { $0.version != next.patch.version }
            rows += Self.staying(others, behind: next.patch).map(Row.init(carrying:))
        }
        for next in described {
            guard let index = rows.firstIndex(where: { $0.label == next.patch.label }) else { continue }
            rows[index].requires = try Self.requirements(of: next.patch, in: rows)
        }
        self.rows = try Self.allowed(rows, over: base)
    }

    /// Requirements of described patches that a first release would not list.
    static func unmet(_ described: [Described]) -> [(label: Label, requires: PatchID)] {
        let rows = described.compactMap { try? row($0, base: nil) }
        return described.flatMap { next in
            next.patch.requires.sorted { $0.key < $1.key }.compactMap { id, wanted in
                contents(wanted, of: id, in: rows) == nil ? (next.patch.label, id) : nil
            }
        }
    }

    /// The base's list without a patch, or without one version of it.
    ///
    /// The removed versions are withdrawn by name.
    ///
    /// - Parameter earlier: A release that listed the versions, for versions that the base does not list.
    /// - Throws: `nothingToWithdraw` for a version that neither lists, `contentStays` if another version with the same content
    ///   stays listed.
    package init(
        withdrawing id: PatchID,
        version: VersionLabel?,
        from base: ReleaseContents,
        listedBy earlier: ReleaseContents? = nil
    ) throws(SigningError) {
        func isSubject(_ entry: PatchEntry) -> Bool {
            entry.patchID == id && (version == nil || entry.version == version)
        }
        let staying = base.list.entries.filter { !isSubject($0) }
        var gone = base.list.entries.filter(isSubject)
        if gone.isEmpty { gone = (earlier?.list.entries ?? []).filter(isSubject) }
        guard !gone.isEmpty else { throw .nothingToWithdraw(id, version) }
        // A list must not both withdraw and list the same content.
        for entry in gone {
            let same = staying.first {
                $0.patchID == id && $0.fingerprint.sha256 == entry.fingerprint.sha256
            }
            if let same { throw .contentStays(entry.label, as: same.version) }
        }
        rows = staying.map(Row.init(carrying:))
        withdrawn = Dictionary(gone.map { ($0.label, $0.fingerprint.sha256) }) { first, _ in first }
    }

    /// The unchanged list of the base.
    package init(renewing base: ReleaseContents) {
        rows = base.list.entries.map(Row.init(carrying:))
    }

    /// The list of an older release.
    ///
    /// - Throws: `withdrawn` if it lists a version that was withdrawn by name since.
    package init(rollingBackTo older: ReleaseContents, over base: ReleaseContents?) throws(SigningError) {
        rows = try Self.allowed(older.list.entries.map(Row.init(carrying:)), over: base)
    }

    /// All versions that the list must name as withdrawn: those named by the base that devices could still have, and those
    /// withdrawn now.
    package func withdrawn(
        beside base: PatchList?,
        inList serial: Int,
        at time: UTCTime,
        validity: Duration
    ) -> [WithdrawnVersion] {
        // If no listed version is for all devices, these rows keep devices on the version they returned to.
        let open = Set(rows.filter(\.rules.isForEveryone).map(\.label.patchID))
        let closed = Set(rows.map(\.label.patchID)).subtracting(open)
        let known = (base?.withdrawn ?? []).filter {
            closed.contains($0.patchID) || $0.isNeeded(inList: serial, at: time, validity: validity)
        }
        let new = withdrawn.map { label, sha256 in
            WithdrawnVersion(
                patchID: label.patchID,
                version: label.version,
                sha256: sha256,
                serial: serial,
                since: time
            )
        }
        return known + new.sorted { ($0.patchID, $0.version.text) < ($1.patchID, $1.version.text) }
    }

    /// - Throws: `withdrawn` for the first version that the base names as withdrawn, `republished` if the base withdrew the same
    ///   label with other content.
    private static func allowed(_ rows: [Row], over base: ReleaseContents?) throws(SigningError) -> [Row] {
        for gone in base?.list.withdrawn ?? [] {
            if let row = rows.first(where: { $0.label == gone.label }), row.fingerprint.sha256 != gone.sha256 {
                throw .republished(row.label, difference: "it was withdrawn in list \(gone.serial)")
            }
            guard
                let row = rows.first(where: {
                    $0.label.patchID == gone.patchID && $0.fingerprint.sha256 == gone.sha256
                })
            else { continue }
            throw .withdrawn(row.label, since: gone)
        }
        return rows
    }

    /// The list of another channel.
    ///
    /// The remaining versions of the base follow each patch, and patches that only the base lists stay unchanged.
    ///
    /// - Parameter rollouts: The rollout ceilings of the newest versions of these patches, instead of the source's. Older
    ///   versions of the source are not promoted then: devices above a ceiling keep the base's version.
    /// - Throws: `republished` if the base lists a label with other content, `withdrawn` if it names the content as withdrawn,
    ///   `nothingToWithdraw` for a rollout of a patch that the source does not list.
    package init(
        promoting source: ReleaseContents,
        over base: ReleaseContents?,
        rollouts: [PatchID: Int] = [:]
    ) throws(SigningError) {
        for id in rollouts.keys.sorted() where source.versions(of: id).isEmpty { throw .nothingToWithdraw(id, nil) }
        for entry in source.list.entries {
            guard let known = base?.entry(entry.label) else { continue }
            if known.fingerprint != entry.fingerprint {
                throw .republished(
                    entry.label,
                    difference: "sha256 \(known.fingerprint.sha256.hex.prefix(12))… in \(base?.channel.text ?? "")"
                )
            }
            guard known.place == entry.place else {
                throw .republished(entry.label, difference: "\(known.place) in \(base?.channel.text ?? "")")
            }
        }
        var rows: [Row] = []
        for id in source.list.patchIDs {
            var promoted: [(entry: PatchEntry, rules: PatchRules)] = source.versions(of: id).map { ($0, $0.rules) }
            if let rollout = rollouts[id] {
                promoted.removeSubrange(1...)
                promoted[0].rules.rollout = rollout
            }
            rows += promoted.map { entry, rules in
                Row(carrying: entry, rules: rules, known: base?.entry(entry.label)?.signature ?? entry.signature)
            }
            let others = (base?.versions(of: id) ?? []).filter { own in
                !promoted.contains { $0.entry.label == own.label }
            }
            // Versions behind one for all devices are not needed. Without such a version, as many are kept as by default in a
            // description.
            let isOpen = promoted.contains { $0.rules.isForEveryone }
            let keep = max(0, DescribedPatch.keepByDefault - (promoted.count - 1))
            rows += Self.staying(others, keep: keep, isOpen: isOpen).map(Row.init(carrying:))
        }
        let listed = Set(source.list.patchIDs)
        rows += (base?.list.entries ?? []).filter { !listed.contains($0.patchID) }.map(Row.init(carrying:))
        self.rows = try Self.allowed(rows, over: base)
    }

    /// The base's list with other rules for one version.
    ///
    /// - Throws: `nothingToWithdraw` if it is not listed.
    package init(changing edit: RuleEdit, of label: Label, in base: ReleaseContents) throws(SigningError) {
        guard base.entry(label) != nil else { throw .nothingToWithdraw(label.patchID, label.version) }
        var rows: [Row] = []
        for entry in base.list.entries {
            guard entry.label == label else {
                rows.append(Row(carrying: entry))
                continue
            }
            let rules: PatchRules
            do throws(FormatError) { rules = try edit.applied(to: entry.rules) } catch {
                throw .description(DescriptionError(error.document, field: error.field, rule: error.rule))
            }
            rows.append(Row(carrying: entry, rules: rules))
        }
        self.rows = rows
    }

    /// The base's versions that stay behind a described one: as many as requested, and all up to the first one for all devices.
    ///
    /// A device that is not eligible for earlier ones keeps its version only while that is listed.
    private static func staying(_ others: [PatchEntry], behind patch: DescribedPatch) -> [PatchEntry] {
        staying(others, keep: patch.keep, isOpen: patch.rules.isForEveryone)
    }

    private static func staying(_ others: [PatchEntry], keep: Int, isOpen: Bool) -> [PatchEntry] {
        var isOpen = isOpen
        var staying: [PatchEntry] = []
        for entry in others {
            guard staying.count < keep || !isOpen else { break }
            staying.append(entry)
            isOpen = isOpen || entry.rules.isForEveryone
        }
        return staying
    }

    private static func row(_ described: Described, base: ReleaseContents?) throws(SigningError) -> Row {
        let (patch, fingerprint) = (described.patch, described.fingerprint)
        let known = base?.entry(patch.label)
        if let known, let base, known.fingerprint != fingerprint || known.kind != patch.kind {
            throw .republished(patch.label, difference: difference(described, from: known, in: base))
        }
        let listed = base?.versions(of: patch.patchID).first { $0.fingerprint.sha256 == fingerprint.sha256 }
        // A device with this content would not download it again, and would keep running it in the old place.
        if let listed, listed.place != patch.place {
            throw .republished(patch.label, difference: "\(listed.label) \(listed.place)")
        }
        let salt = listed?.salt ?? salt(patchID: patch.patchID, sha256: fingerprint.sha256)
        var rules = patch.rules
        if !patch.users.isEmpty { rules.users = (rules.users ?? []) + patch.users.map { $0.hash(salt: salt) } }
        return Row(
            label: patch.label,
            kind: patch.kind,
            fingerprint: fingerprint,
            salt: salt,
            requires: [:],
            rules: rules,
            security: patch.security,
            place: patch.place,
            gateways: patch.gateways,
            known: known?.signature,
            knownJSPatch: known?.jspatch
        )
    }

    private static func difference(_ described: Described, from known: PatchEntry, in base: ReleaseContents) -> String {
        guard described.patch.kind == known.kind else { return "it was a \(known.kind)" }
        if let old = base.manifests[known.label], let new = described.manifest, old != new {
            return BundleDifference(from: old, to: new).first
        }
        return "sha256 \(known.fingerprint.sha256.hex.prefix(12))… was \(known.fingerprint.size) bytes, "
            + "\(described.fingerprint.sha256.hex.prefix(12))… is \(described.fingerprint.size)"
    }

    private static func requirements(
        of patch: DescribedPatch,
        in rows: [Row]
    ) throws(SigningError) -> [PatchID: [SHA256Digest]] {
        var requires: [PatchID: [SHA256Digest]] = [:]
        for (id, wanted) in patch.requires {
            guard let contents = contents(wanted, of: id, in: rows) else { throw .unmet(patch.label, requires: id) }
            requires[id] = contents
        }
        return requires
    }

    /// Returns nil if a required version is not listed, or none of the contents is.
    private static func contents(
        _ wanted: [DescribedPatch.Requirement],
        of id: PatchID,
        in rows: [Row]
    ) -> [SHA256Digest]? {
        let listed = rows.filter { $0.label.patchID == id }
        let contents = wanted.compactMap { requirement in
            switch requirement {
            case .content(let digest): digest
            case .version(let version): listed.first { $0.label.version == version }?.fingerprint.sha256
            }
        }
        guard contents.count == wanted.count, listed.contains(where: { contents.contains($0.fingerprint.sha256) })
        else {
            return nil
        }
        return contents
    }

    /// The first 16 bytes of SHA-256 over a prefix, the id and the content.
    ///
    /// It looks random, is the same for everyone who describes this content, and is fixed while the content is listed.
    package static func salt(patchID: PatchID, sha256: SHA256Digest) -> [UInt8] {
        Array(SHA256Digest(of: Array("patchline-salt-v1\n\(patchID)\n\(sha256.hex)".utf8)).bytes.prefix(16))
    }
}

extension ReleaseDraft.Row {
    /// An unchanged row of the base.
    init(carrying entry: PatchEntry) {
        self.init(carrying: entry, rules: entry.rules)
    }

    /// A row of the base with other rules.
    init(carrying entry: PatchEntry, rules: PatchRules) {
        self.init(carrying: entry, rules: rules, known: entry.signature)
    }

    /// A row of the base with another channel's signature over the same content.
    init(carrying entry: PatchEntry, rules: PatchRules, known: EntrySignature) {
        self.init(
            label: entry.label,
            kind: entry.kind,
            fingerprint: entry.fingerprint,
            salt: entry.salt,
            requires: entry.requires,
            rules: rules,
            security: entry.security,
            place: entry.place,
            gateways: entry.gateways,
            known: known,
            knownJSPatch: entry.jspatch
        )
    }
}
