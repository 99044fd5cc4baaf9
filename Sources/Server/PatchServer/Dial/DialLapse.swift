package import PatchFormat

/// A restriction of the dial that a release ends silently.
///
/// A release never changes the dial, but a row applies only to a listed version.
package enum DialLapse: Equatable, Sendable {
    /// The version was restricted until now and is no longer listed.
    ///
    /// Its row is deleted, and is not restored when the version is listed again.
    case forgotten(DialState.Version)
    /// The version is new, first of its patch and unrestricted, while the previous version was restricted.
    case free(DialState.Version)

    /// - Parameters:
    ///   - before: the dial over the versions listed until now.
    ///   - after: the dial over the versions listed from now on.
    ///   - isMeant: whether a version is offered to all devices on purpose: the release sets its share, or the channel
    ///     listed it before, as after a rollback.
    static func all(from before: DialState, to after: DialState, isMeant: (Label) -> Bool) -> [DialLapse] {
        let listed = Set(after.versions.map(\.content))
        let forgotten = before.versions.filter { $0.isHeldBack && !listed.contains($0.content) }
        let known = Set(before.versions.map(\.content))
        let first = Dictionary(before.versions.map { ($0.patchID, $0) }) { first, _ in first }
        var seen: Set<PatchID> = []
        let free = after.versions.filter { version in
            guard seen.insert(version.patchID).inserted, !version.isHeldBack, !known.contains(version.content),
                !isMeant(version.label)
            else { return false }
            return first[version.patchID]?.isHeldBack == true
        }
        return forgotten.map { .forgotten($0) } + free.map { .free($0) }
    }

    package var version: DialState.Version {
        switch self {
        case .forgotten(let version), .free(let version): version
        }
    }

    package var words: String {
        switch self {
        case .forgotten(let version):
            "\(version.heldWords); it is no longer listed, and the dial will not limit it if it is listed again"
        case .free(let version):
            (version.row == nil ? "the dial does not name" : "the dial does not hold")
                + " \(version.label), which is first now: \(RolloutShare(version.effective)) of devices may install it"
        }
    }

    /// The advice about unrestricted versions; nil when there are none.
    ///
    /// - Parameter options: The server for another command, with a space before it.
    package static func hint(_ lapses: [DialLapse], in channel: ChannelName, options: String = "") -> String? {
        let free = lapses.compactMap { lapse in
            if case .free(let version) = lapse { " --pause \(version.patchID)@\(version.version)" } else { nil }
        }
        return free.isEmpty
            ? nil : "to pause the new first version: patchsrv dial --channel \(channel)\(options)\(free.joined())"
    }

    var json: JSON {
        let kind =
            switch self {
            case .forgotten: "forgotten"
            case .free: "free"
            }
        return .fields([
            ("kind", .text(kind)), ("patchId", .text(version.patchID.text)), ("version", .text(version.version.text)),
            ("words", .text(words)),
        ])
    }
}

extension DialState.Version {
    fileprivate struct Content: Hashable {
        let patchID: PatchID
        let sha256: SHA256Digest
    }

    fileprivate var content: Content { Content(patchID: patchID, sha256: sha256) }
    fileprivate var label: Label { Label(patchID: patchID, version: version) }

    /// The dial's former row, in words.
    fileprivate var heldWords: String {
        if isPaused { return "the dial paused \(label)" + (row?.reason.map { " (\($0))" } ?? "") }
        let places = row?.headcount.map { " in \($0) places" } ?? ""
        return "the dial held \(label) at \(RolloutShare(effective))\(places)"
    }
}
