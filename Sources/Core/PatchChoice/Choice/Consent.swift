package import PatchFormat

/// The new versions that a device installs without approval.
///
/// The device's owner sets it. Lists, dials and servers cannot change it.
package enum Consent: String, CaseIterable, Sendable {
    /// All versions.
    case automatic
    /// Security fixes. All other versions need approval.
    case security
    /// No version. Each one needs approval.
    case ask

    package static let rule = "must be automatic, security or ask"

    /// Whether this version needs no approval.
    package func covers(_ entry: PatchEntry) -> Bool {
        switch self {
        case .automatic: true
        case .security: entry.security != nil
        case .ask: false
        }
    }
}

/// Versions that were approved on this device and are still listed.
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

    /// Removes the approvals of versions that are no longer listed.
    package mutating func keep(only listed: Set<PatchContent>) {
        rows = rows.filter { listed.contains($0.key) }
    }

    /// Removes approvals beyond the limit.
    ///
    /// Those versions need approval again.
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

/// Cases without approval, because the device would have no version to run.
package struct ConsentExemption: Equatable, Sendable {
    /// No version is installed.
    package var isFirst = false
    /// Patches whose version is withdrawn by name and that have no earlier version.
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

/// A version that waits for approval, with its security advisory, if any.
package struct AwaitedVersion: Equatable, Sendable {
    package let content: PatchContent
    package let version: VersionLabel
    package let security: SecurityAdvisory?

    package init(content: PatchContent, version: VersionLabel, security: SecurityAdvisory?) {
        (self.content, self.version, self.security) = (content, version, security)
    }

    package var label: Label { Label(patchID: content.patchID, version: version) }

    /// The versions that only lack approval: the newest one of each patch.
    package static func all(_ decisions: [Decision], of entries: [PatchEntry]) -> [AwaitedVersion] {
        decisions.compactMap { decision in
            guard let version = decision.passedOver.first(where: { $0.why.isUnapproved })?.version,
                let entry = entries.first(where: { $0.patchID == decision.patchID && $0.version == version })
            else { return nil }
            return AwaitedVersion(entry)
        }
    }

    /// Adds the versions that these require and that wait for approval as well.
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
