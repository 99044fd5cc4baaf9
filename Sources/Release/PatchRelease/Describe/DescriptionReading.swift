package import PatchFormat

/// The result of reading a description: its valid parts and all mistakes.
package struct DescriptionReading: Sendable {
    /// Nil if there is a mistake.
    package let description: ReleaseDescription?
    package let app: AppID?
    package let channel: ChannelName?
    /// The valid patches, each with its index in the list.
    package let patches: [(index: Int, patch: DescribedPatch)]
    let hosts: [AssetPath]
    let jspatch: DescribedPackages?
    /// All mistakes, in line order.
    package let mistakes: [DescriptionError]
    /// Valid but probably unintended parts.
    package let warnings: [DescriptionError]
    package let places: DescriptionPositions

    package init(_ bytes: [UInt8], named file: String = ReleaseDescription.fileName) {
        let document: YAMLDocument
        do throws(DescriptionError) { document = try YAMLDocument(bytes, named: file) } catch {
            (description, app, channel, patches, hosts, jspatch) = (nil, nil, nil, [], [], nil)
            (mistakes, warnings) = ([error], [])
            places = DescriptionPositions(file: file, lines: [:])
            return
        }
        let places = DescriptionPositions(file: file, lines: document.lines)
        let mistakes = Mistakes()
        let fields = mistakes.take { () throws(FormatError) in try Fields(document.json, of: file) }
        let (app, channel, patches) = Self.parts(of: fields, mistakes)
        hosts = fields.flatMap { fields in mistakes.take { () throws(FormatError) in try Self.hosts(fields) } } ?? []
        jspatch = fields.flatMap { DescribedPackages(in: $0, mistakes) }
        // An unreadable value has its own mistake already.
        let unreadable = Set(document.mistakes.map(\.field))
        let broken = mistakes.found.filter { !unreadable.contains($0.field) }.map { places.error($0.field, $0.rule) }
        self.mistakes = (document.mistakes + broken).inOrder
        self.warnings = mistakes.warnings.map { places.error($0.field, $0.rule) }.inOrder
        (self.app, self.channel, self.patches, self.places) = (app, channel, patches, places)
        guard self.mistakes.isEmpty, let app, let channel else {
            description = nil
            return
        }
        description = ReleaseDescription(
            app: app,
            channel: channel,
            patches: patches.map(\.patch),
            hosts: hosts,
            jspatch: jspatch,
            places: places
        )
    }

    /// Wraps a derived description.
    ///
    /// It has no mistakes, because no file was parsed.
    package init(of description: ReleaseDescription) {
        (app, channel, hosts, jspatch) = (description.app, description.channel, description.hosts, description.jspatch)
        patches = description.patches.enumerated().map { ($0.offset, $0.element) }
        (mistakes, warnings, places) = ([], [], description.places)
        self.description = description
    }

    private static func parts(of fields: Fields?, _ mistakes: Mistakes) -> (
        AppID?, ChannelName?, [(index: Int, patch: DescribedPatch)]
    ) {
        guard let fields else { return (nil, nil, []) }
        mistakes.allow(["app", "channel", "patches", "hosts", DescribedPackages.key], in: fields)
        let app: AppID? = mistakes.take { () throws(FormatError) in try fields.parsed("app") }
        let channel: ChannelName? = mistakes.take { () throws(FormatError) in try fields.parsed("channel") }
        let rows = mistakes.take { () throws(FormatError) in
            try fields.list("patches", limit: Limits.patchesInList)
        }
        var (patches, ids): ([(index: Int, patch: DescribedPatch)], Set<PatchID>) = ([], [])
        var gateways: [Gateway: PatchID] = [:]
        for (index, value) in (rows ?? []).enumerated() {
            let row = mistakes.take { () throws(FormatError) in
                try Fields(value, of: fields.document, at: "patches[\(index)]")
            }
            guard let row, let patch = DescribedPatch(row, mistakes) else { continue }
            guard ids.insert(patch.patchID).inserted else {
                mistakes.add(row.broken("id", "is listed twice; list each id once, with its newest version"))
                continue
            }
            for gateway in patch.gateways {
                if let other = gateways.updateValue(patch.patchID, forKey: gateway) {
                    mistakes.add(
                        row.broken(
                            "gateways",
                            "has \(gateway.rawValue), like \(other); only one patch of a channel may have it"
                        )
                    )
                }
            }
            patches.append((index, patch))
        }
        return (app, channel, patches)
    }
}

extension DescriptionReading {
    private static let hostsOfScripts = 100

    private static func hosts(_ fields: Fields) throws(FormatError) -> [AssetPath] {
        guard fields.has("hosts") else { return [] }
        var paths: [AssetPath] = []
        for (index, text) in try fields.texts("hosts", limit: hostsOfScripts).enumerated() {
            do throws(AssetPath.Problem) { paths.append(try AssetPath(text)) } catch {
                throw fields.broken("hosts[\(index)]", error.rawValue)
            }
        }
        return paths
    }
}

/// The line of each field of a description, for its errors.
package struct DescriptionPositions: Equatable, Sendable {
    package let file: String
    /// The line of each field, from 1.
    let lines: [String: Int]

    package func error(_ field: String, _ rule: String) -> DescriptionError {
        DescriptionError(FormatError(file, field: field, rule: rule), lines: lines)
    }
}

extension [DescriptionError] {
    /// In line order; errors without a line first.
    var inOrder: [DescriptionError] {
        enumerated().sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }.map(\.element)
    }
}
