import Gateways
package import PatchFormat

/// The packages of a release for JSPatch's clients, derived from its list, its description and the base's packages.
///
/// Pure: no file, no key. Each number is used once: a new package gets the next one, and an unlisted package keeps its own.
package struct PackageDraft: Equatable, Sendable {
    /// The packages of one wire for one app version.
    package struct Row: Equatable, Sendable {
        package let line: GatewayPackages.Line
        /// The highest number issued so far; 0 for none.
        package let before: Int
        package let scripts: [ScriptName: PatchID]
        /// The base's packages whose scripts are all listed, newest first.
        package let kept: [GatewayPackages.Package]
        /// The base's newest package, even if it is not kept.
        package let last: GatewayPackages.Package?
        /// The package to make, if any.
        package let new: New?

        /// The effect on clients if no package is made.
        package var withoutNew: Without {
            guard let version = LoaderVersion(before) else { return .nothing }
            return kept.first?.version == version ? .stay(version) : .lose(version)
        }
    }

    /// The effect on a wire's clients if their new package is not made.
    package enum Without: Equatable, Sendable {
        /// Clients keep running scripts that were replaced.
        case stay(LoaderVersion)
        /// The last version is no longer available.
        case lose(LoaderVersion)
        /// Clients have never received a package.
        case nothing
    }

    /// The behaviour if the keys for a package are not available.
    package enum Need: Equatable, Sendable {
        /// The release fails, because its description requests the package.
        case described
        /// The release fails unless the caller allows it: its list has other scripts than the clients.
        case carried
        /// The release is made without the package: a withdrawal must succeed even without keys.
        case ifPossible
    }

    package struct New: Equatable, Sendable {
        package let version: LoaderVersion
        package let contents: [ScriptName: SHA256Digest]
        package let need: Need
    }

    /// The properties of a list's row that packages depend on.
    package struct Listed: Equatable, Sendable {
        let label: Label
        let kind: PatchKind
        let sha256: SHA256Digest
        let rules: PatchRules
        let requires: Set<PatchID>
        let place: ScriptPlace

        package init(
            _ label: Label,
            kind: PatchKind,
            sha256: SHA256Digest,
            rules: PatchRules,
            requires: Set<PatchID>,
            place: ScriptPlace
        ) {
            (self.label, self.kind, self.sha256) = (label, kind, sha256)
            (self.rules, self.requires, self.place) = (rules, requires, place)
        }
    }

    package let rows: [Row]
    /// Warnings about described scripts that reach fewer clients than described.
    package let warnings: [Problem]

    /// A mistake about a description's scripts.
    package struct Problem: Error, Equatable {
        package let field: String
        package let rule: String
    }

    /// - Parameter described: nil if JSPatch's clients receive nothing new.
    package init(
        _ described: DescribedPackages?,
        list: [Listed],
        over base: [GatewayPackages]
    ) throws(Problem) {
        var (rows, warnings): ([Row], [Problem]) = ([], [])
        for line in described?.lines ?? [] {
            guard let described else { break }
            let contents: [ScriptName: SHA256Digest]
            contents = try Self.contents(described.scripts, on: line, in: list)
            warnings += Self.warnings(described.scripts, on: line, in: list).filter { !warnings.contains($0) }
            rows.append(
                try Row(line, described.scripts, contents, after: described.after, .described, list, base)
            )
        }
        let lines = Set(rows.map(\.line))
        // Its numbers stay reserved, in case it is switched on again.
        self.rows = rows + base.filter { !lines.contains($0.line) }.map { Row(off: $0) }
        self.warnings = warnings
        guard self.rows.count <= Limits.gatewayLines else {
            throw Problem(
                field: "\(DescribedPackages.key).appVersions",
                rule: "makes more than \(Limits.gatewayLines) lines, including those with earlier numbers"
            )
        }
    }

    /// Carries the base's wires over to another list, or those of a promoted release.
    ///
    /// Packages that cannot be made are left out.
    ///
    /// - Parameter channel: The promoted channel. Packages for the platform's developers are packed again, because their numbers
    ///   are always above those of every channel.
    package init(
        carrying base: [GatewayPackages],
        promoting source: [GatewayPackages] = [],
        of channel: ChannelName? = nil,
        list: [Listed],
        _ need: Need = .ifPossible
    ) {
        let promoted = source.filter(\.isSwitchedOn)
        let carried = base.filter { row in row.isSwitchedOn && !promoted.contains { $0.line == row.line } }
        var rows: [Row] = []
        for row in promoted + carried {
            let contents = try? Self.contents(row.scripts, on: row.line, in: list)
            let next = try? Row(row.line, row.scripts, contents, after: 0, need, list, base)
            let isDevelopers = channel?.text == PackageSite.developers && row.line.wire.gateway == .platform
            rows.append(next?.taking(isDevelopers ? nil : row.newest) ?? Row(off: row))
        }
        let lines = Set(rows.map(\.line))
        self.rows = rows + base.filter { !lines.contains($0.line) }.map { Row(off: $0) }
        warnings = []
    }

    /// Warns about scripts with both a condition and a rollout.
    ///
    /// Clients that support rollouts ignore conditions, so no client receives such a script.
    private static func warnings(
        _ scripts: [ScriptName: PatchID],
        on line: GatewayPackages.Line,
        in list: [Listed]
    ) -> [Problem] {
        guard line.wire.gateway == .platform else { return [] }
        return scripts.sorted { $0.key < $1.key }.compactMap { name, id in
            guard let row = list.first(where: { $0.label.patchID == id }), row.rules.condition != nil,
                row.rules.rollout < 10_000
            else { return nil }
            let rule =
                "names \(row.label), whose rules have a condition and a share: "
                + "the platform's clients install it only when every device may"
            return Problem(field: "\(DescribedPackages.key).scripts.\(name)", rule: rule)
        }
    }

    /// The content of each script name: the newest listed version of its patch.
    private static func contents(
        _ scripts: [ScriptName: PatchID],
        on line: GatewayPackages.Line,
        in list: [Listed]
    ) throws(Problem) -> [ScriptName: SHA256Digest] {
        var contents: [ScriptName: SHA256Digest] = [:]
        var conditions: [(label: Label, condition: String?)] = []
        let ids = Set(scripts.values)
        for (name, id) in scripts.sorted(by: { $0.key < $1.key }) {
            let field = "\(DescribedPackages.key).scripts.\(name)"
            guard let row = list.first(where: { $0.label.patchID == id }) else {
                throw Problem(field: field, rule: "names \(id), which is not listed")
            }
            if let rule = row.obstacle(on: line, beside: ids) ?? name.obstacle(on: line) {
                throw Problem(field: field, rule: rule)
            }
            if let other = conditions.first(where: { $0.condition != row.rules.condition }) {
                let rule =
                    "names \(row.label), whose condition differs from that of \(other.label); a package has one condition"
                throw Problem(field: field, rule: rule)
            }
            conditions.append((row.label, row.rules.condition))
            contents[name] = row.sha256
        }
        return contents
    }
}

extension ScriptName {
    /// The reason why a package cannot contain a script of that name; nil if it can.
    fileprivate func obstacle(on line: GatewayPackages.Line) -> String? {
        guard line.wire.gateway == .platform, text.utf8.count > PlatformPackage.scriptNameBytes else { return nil }
        return "is over \(PlatformPackage.scriptNameBytes) bytes, the limit of the platform's packages"
    }
}

extension PackageDraft.Listed {
    /// The reason why a wire cannot carry a script; nil if it can.
    fileprivate func obstacle(on line: GatewayPackages.Line, beside ids: Set<PatchID>) -> String? {
        if kind != .script { return "names \(label), which is a bundle" }
        if place.isInPages { return "names \(label), which runs in pages" }
        if rules.appVersion?.contains(line.appVersion) == false {
            return "names \(label), whose rules leave app version \(line.appVersion) out"
        }
        if rules.users != nil {
            return "names \(label), whose rules name users; JSPatch's clients do not support users"
        }
        if rules.condition != nil, line.wire == .loader {
            return "names \(label), whose rules have a condition; JSPatch's loader does not support conditions"
        }
        if let other = requires.sorted().first(where: { !ids.contains($0) }) {
            return "names \(label), which requires \(other), but the package does not contain it"
        }
        return nil
    }
}

extension PackageDraft.Row {
    /// - Parameter contents: nil if the package cannot be made.
    fileprivate init(
        _ line: GatewayPackages.Line,
        _ scripts: [ScriptName: PatchID],
        _ contents: [ScriptName: SHA256Digest]?,
        after: Int,
        _ need: PackageDraft.Need,
        _ list: [PackageDraft.Listed],
        _ base: [GatewayPackages]
    ) throws(PackageDraft.Problem) {
        let known = base.first { $0.line == line }
        let listed = Set(list.filter { $0.kind == .script }.map(\.sha256))
        let kept = (known?.packages ?? []).filter { $0.contents.values.allSatisfy(listed.contains) }
        let before = max(known?.latest.number ?? 0, after)
        var new: PackageDraft.New?
        let exists = kept.first.map { $0.version.number == before && $0.contents == contents } ?? false
        if let contents, !exists {
            guard let version = LoaderVersion(before + 1) else {
                throw PackageDraft.Problem(field: "jspatch", rule: "has used every number of \(line)")
            }
            new = PackageDraft.New(version: version, contents: contents, need: need)
        }
        let room = Limits.packagesOfLine - (new == nil ? 0 : 1)
        let last = known?.packages.first
        self.init(line: line, before: before, scripts: scripts, kept: Array(kept.prefix(room)), last: last, new: new)
    }

    /// A row that is switched off.
    fileprivate init(off row: GatewayPackages) {
        self.init(line: row.line, before: row.latest.number, scripts: [:], kept: [], last: nil, new: nil)
    }

    /// Reuses another channel's newest package if it has the same contents and its number is not used here.
    fileprivate func taking(_ other: GatewayPackages.Package?) -> PackageDraft.Row {
        guard let new, let other, other.contents == new.contents, other.version.number > before else { return self }
        return PackageDraft.Row(
            line: line,
            before: other.version.number,
            scripts: scripts,
            kept: [other] + kept.prefix(Limits.packagesOfLine - 1),
            last: other,
            new: nil
        )
    }

    /// - Parameter made: The package made for ``new``; nil if it was not made.
    func packages(_ made: GatewayPackages.Package?) -> GatewayPackages? {
        // A line that never had a package is omitted.
        guard let latest = LoaderVersion(max(before, made?.version.number ?? 0)) else { return nil }
        guard made != nil || !kept.isEmpty || before > 0 else { return nil }
        return GatewayPackages(
            line: line,
            latest: latest,
            scripts: scripts,
            packages: [made].compactMap(\.self) + kept
        )
    }
}
