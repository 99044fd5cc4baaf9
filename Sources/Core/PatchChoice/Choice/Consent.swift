package import PatchFormat

/// Which new versions a device takes without asking anybody.
///
/// Whose device it is says so; no list, dial or server does.
package enum Consent: String, CaseIterable, Sendable {
    /// All.
    case automatic
    /// Those that close a security hole; somebody approves of the others.
    case security
    /// None: somebody approves of each.
    case ask

    package static let rule = "must be automatic, security or ask"

    /// Whether nobody has to be asked about this version.
    package func covers(_ entry: PatchEntry) -> Bool {
        switch self {
        case .automatic: true
        case .security: entry.security != nil
        case .ask: false
        }
    }
}

/// Versions that somebody approved of on this device, until they are listed no more.
package struct ApprovedVersions: Equatable, Sendable {
    package private(set) var rows: [PatchContent: VersionLabel] = [:]

    package init() {}

    package mutating func add(_ content: PatchContent, _ version: VersionLabel) {
        rows[content] = version
    }

    package mutating func remove(_ contents: Set<PatchContent>) {
        for content in contents { rows[content] = nil }
    }

    package func contains(_ content: PatchContent) -> Bool { rows[content] != nil }

    /// What is not listed any more needs no approval.
    package mutating func keep(only listed: Set<PatchContent>) {
        rows = rows.filter { listed.contains($0.key) }
    }

    /// Forgets some, where there are more: somebody is asked again.
    package mutating func bound(to count: Int) {
        guard rows.count > count else { return }
        let first = rows.sorted { $0.key < $1.key }.prefix(count)
        rows = Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }
}

extension ApprovedVersions {
    package var json: JSON? {
        guard !rows.isEmpty else { return nil }
        return .array(
            rows.sorted { $0.key < $1.key }.map { content, version in
                .fields([
                    ("patchId", .text(content.patchID.text)), ("sha256", .text(content.sha256.hex)),
                    ("version", .text(version.text)),
                ])
            }
        )
    }

    package init(_ rows: [JSON], of document: String) throws(FormatError) {
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "approved[\(index)]")
            add(
                PatchContent(patchID: try row.name("patchId"), sha256: try row.digest("sha256")),
                try row.name("version")
            )
        }
    }
}

/// Where nobody is asked, because there would be nothing to run otherwise.
package struct ConsentExemption: Equatable, Sendable {
    /// Nothing at all is installed.
    package var isFirst = false
    /// Patches whose version is withdrawn by name, with nothing before it to go back to.
    package var replaced: Set<PatchID> = []

    package init() {}

    init(base: Selection?, rest: Selection?, withdrawn: [PatchID: Set<SHA256Digest>]) {
        isFirst = base?.patches.isEmpty ?? true
        for patch in base?.patches ?? [] where withdrawn[patch.patchID]?.contains(patch.fingerprint.sha256) == true {
            if rest?[patch.patchID] == nil { replaced.insert(patch.patchID) }
        }
    }

    func covers(_ id: PatchID) -> Bool { isFirst || replaced.contains(id) }
}

/// A version that waits for somebody's approval, and what it says of a security hole.
package struct AwaitedVersion: Equatable, Sendable {
    package let content: PatchContent
    package let version: VersionLabel
    package let security: SecurityAdvisory?

    package init(content: PatchContent, version: VersionLabel, security: SecurityAdvisory?) {
        (self.content, self.version, self.security) = (content, version, security)
    }

    package var label: Label { Label(patchID: content.patchID, version: version) }

    /// The versions that nothing but the approval is missing for, of each patch the newest.
    package static func all(_ decisions: [Decision], of entries: [PatchEntry]) -> [AwaitedVersion] {
        decisions.compactMap { decision in
            guard let version = decision.passedOver.first(where: { $0.why.isUnapproved })?.version,
                let entry = entries.first(where: { $0.patchID == decision.patchID && $0.version == version })
            else { return nil }
            return AwaitedVersion(entry)
        }
    }

    /// These, and what they require of versions that wait as well.
    package static func withRequired(
        _ wanted: [AwaitedVersion],
        _ decisions: [Decision],
        of entries: [PatchEntry]
    ) -> [AwaitedVersion] {
        let byContent = Dictionary(entries.map { ($0.content, $0) }) { first, _ in first }
        var all: [AwaitedVersion] = []
        var open = wanted
        while !open.isEmpty {
            let next = open.removeFirst()
            guard !all.contains(next) else { continue }
            all.append(next)
            for (id, digests) in (byContent[next.content]?.requires ?? [:]).sorted(by: { $0.key < $1.key }) {
                guard let decision = decisions.first(where: { $0.patchID == id }),
                    !(decision.choice.content.map { digests.contains($0.sha256) } ?? false)
                else { continue }
                let unapproved = Set(decision.passedOver.filter(\.why.isUnapproved).map(\.version))
                let required = entries.first {
                    $0.patchID == id && digests.contains($0.fingerprint.sha256) && unapproved.contains($0.version)
                }
                if let required { open.append(AwaitedVersion(required)) }
            }
        }
        return all
    }

    package init(_ entry: PatchEntry) {
        self.init(content: entry.content, version: entry.version, security: entry.security)
    }

    package var json: JSON {
        .fields([
            ("patchId", .text(content.patchID.text)), ("version", .text(version.text)), ("security", security?.json),
        ])
    }
}
