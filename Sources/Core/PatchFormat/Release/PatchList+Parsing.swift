/// A list entry that is not valid.
///
/// Only this entry is rejected; the rest of the list remains valid.
package struct EntryProblem: Hashable, Sendable {
    /// The position in `patches`, from 0.
    package let index: Int
    /// The patch id if it is valid.
    package let patchID: PatchID?
    package let version: VersionLabel?
    package let error: String

    package init(index: Int, patchID: PatchID?, version: VersionLabel?, error: String) {
        self.index = index
        self.patchID = patchID
        self.version = version
        self.error = error
    }
}

/// A list with its valid entries, and the problems of the invalid ones.
package struct ParsedPatchList: Sendable {
    package let list: PatchList
    package let problems: [EntryProblem]

    /// An invalid header rejects the whole list.
    ///
    /// An invalid field in an entry rejects only that entry.
    package init(_ bytes: [UInt8], named document: String = "patch list") throws(FormatError) {
        let json = try JSON.document(bytes, named: document, limit: Limits.patchList)
        let fields = try Fields(json, of: document)
        try fields.constant("format", PatchList.format)
        let app = try fields.name("app", as: AppID.self)
        let channel = try fields.name("channel", as: ChannelName.self)
        let serial = try fields.integer("serial", in: 0...(1 << 53 - 1))
        let published = try fields.time("published")
        let withdrawn = try Self.withdrawn(fields)
        let gone = Dictionary(withdrawn.map { ($0.patchID, Set([$0.sha256])) }) { $0.union($1) }
        var entries: [PatchEntry] = []
        var problems: [EntryProblem] = []
        var contents: [Label: SHA256Digest] = [:]
        for (index, value) in try fields.array("patches", limit: Limits.patchesInList).enumerated() {
            do throws(FormatError) {
                let entry = try PatchEntry(
                    try Fields(value, of: document, at: "patches[\(index)]"),
                    app: app,
                    channel: channel
                )
                let label = Label(patchID: entry.patchID, version: entry.version)
                guard contents[label] == nil else {
                    let rule =
                        contents[label] == entry.fingerprint.sha256 ? "is listed twice" : "has two contents in one list"
                    throw FormatError(document, field: "patches[\(index)].version", rule: rule)
                }
                guard gone[entry.patchID]?.contains(entry.fingerprint.sha256) != true else {
                    throw FormatError(document, field: "patches[\(index)]", rule: "is listed and withdrawn in one list")
                }
                contents[label] = entry.fingerprint.sha256
                entries.append(entry)
            } catch {
                problems.append(EntryProblem(index: index, unreadable: value, error: error.description))
            }
        }
        var gateways: [GatewayPackages] = []
        do throws(FormatError) { gateways = try GatewayPackages.all(of: fields) } catch {
            // Reported like an invalid entry: a device continues, and tools refuse to sign or publish the list.
            let index = entries.count + problems.count
            problems.append(EntryProblem(index: index, patchID: nil, version: nil, error: error.description))
        }
        list = PatchList(
            app: app,
            channel: channel,
            serial: serial,
            published: published,
            entries: entries,
            withdrawn: withdrawn,
            gateways: gateways
        )
        self.problems = problems
    }

    private static func withdrawn(_ fields: Fields) throws(FormatError) -> [WithdrawnVersion] {
        guard fields.has("withdrawn") else { return [] }
        var rows: [WithdrawnVersion] = []
        for (index, value) in try fields.array("withdrawn", limit: Limits.withdrawnInList).enumerated() {
            let place = "\(fields.at("withdrawn"))[\(index)]"
            rows.append(try WithdrawnVersion(try Fields(value, of: fields.document, at: place)))
        }
        return rows
    }
}

/// The name of one version of one patch.
package struct Label: Hashable, Sendable, CustomStringConvertible {
    package let patchID: PatchID
    package let version: VersionLabel

    package init(patchID: PatchID, version: VersionLabel) {
        self.patchID = patchID
        self.version = version
    }

    package var description: String { "\(patchID) \(version)" }
}

extension EntryProblem {
    fileprivate init(index: Int, unreadable value: JSON, error: String) {
        func name<Name: ParsedName>(_ key: String) -> Name? {
            guard case .string(let text) = value[key] else { return nil }
            return Name(text.text)
        }
        self.init(index: index, patchID: name("patchId"), version: name("version"), error: error)
    }
}

extension PatchEntry {
    package init(_ fields: Fields, app: AppID, channel: ChannelName) throws(FormatError) {
        let patchID = try fields.name("patchId", as: PatchID.self)
        let version = try fields.name("version", as: VersionLabel.self)
        guard let kind = PatchKind(rawValue: try fields.string("kind")) else {
            throw fields.broken("kind", "must be script or bundle")
        }
        let fingerprint = try fields.fingerprint()
        let url = try fields.string("url")
        let expected = URLLayout.entry(
            kind: kind,
            channel: channel,
            patchID: patchID,
            version: version,
            sha256: fingerprint.sha256
        )
        guard url.hasSameBytes(as: expected) else { throw fields.broken("url", "must be \(expected)") }
        let signature = try EntrySignature(try fields.fields("signature"))
        guard let salt = Hex.bytes(try fields.string("salt")), salt.count == 16 else {
            throw fields.broken("salt", "must be 32 lowercase hex digits")
        }
        let requires = fields.has("requires") ? try fields.requires("requires") : [:]
        let rules = fields.has("rules") ? try PatchRules(try fields.fields("rules")) : .everyone
        let security = fields.has("security") ? try SecurityAdvisory(try fields.fields("security")) : nil
        let place = try ScriptPlace(fields, kind: kind)
        let jspatch = fields.has("jspatch") ? try JSPatchForm(try fields.fields("jspatch")) : nil
        let gateways = try fields.gateways("gateways")
        self.init(
            patchID: patchID,
            kind: kind,
            version: version,
            url: url,
            fingerprint: fingerprint,
            signature: signature,
            salt: salt,
            requires: requires,
            rules: rules,
            security: security,
            place: place,
            jspatch: jspatch,
            gateways: gateways
        )
    }
}

extension Fields {
    fileprivate func requires(_ key: String) throws(FormatError) -> [PatchID: [SHA256Digest]] {
        let wanted = try members(of: key, limit: Limits.requires)
        var requires: [PatchID: [SHA256Digest]] = [:]
        for member in wanted.object.members {
            guard let id = PatchID(member.key.text) else { throw wanted.broken(member.key.text, PatchID.rule) }
            requires[id] = try wanted.digests(of: member, limit: Limits.requires)
        }
        return requires
    }
}
