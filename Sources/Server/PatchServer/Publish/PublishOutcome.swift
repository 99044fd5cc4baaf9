package import PatchFormat
package import PatchTrust
package import ReleaseFolder

/// The outcome of offering a release.
package enum PublishOutcome: Equatable, Sendable {
    case published(Publication)
    /// The release is stored until more key holders have signed.
    case drafted(channel: ChannelName, version: Int, quorum: VerifiedRelease.SignatureTally)
    /// The release is the channel's current one already; missing or damaged files were restored.
    case alreadyPublished(channel: ChannelName, version: Int, TreeChange)
}

/// A release that devices see from now on.
package struct Publication: Equatable, Sendable {
    package let channel: ChannelName
    package let version: Int
    package let counts: VerifiedRelease.Counts
    package let change: TreeChange
    package let roles: RefreshedVersions
    /// Versions of superseded drafts, including the release's own.
    package let removedDrafts: [Int]
    /// Versions whose rollout this release sets.
    package let started: [StartedVersion]
    /// Other versions, which the dial holds below this release's ceiling.
    package let heldBack: [DialState.Version]
    /// Versions that the dial no longer restricts.
    package let lapses: [DialLapse]
    /// Packages that clients in development mode do not receive now (J2).
    package let developersWait: [DeveloperSyncFile]
    /// Roles that expire soon, or before the release.
    package let endings: [ReleaseExpiry.Warning]
    /// Packs that were discarded, because they save too few bytes for the space they use.
    package var leftOutPacks: [DiscardedPack] = []
    /// Whether smaller forms and packs are still missing.
    package var awaitsForms = false
    /// Derived files that devices no longer need.
    package var removedForms = RemovedForms.nothing
}

extension JSON {
    fileprivate func adding(_ members: [(String, JSON)]) -> JSON {
        guard var object else { return self }
        for (key, value) in members { object[key] = value }
        return .object(object)
    }
}

extension PublishOutcome {
    /// The result for scripts and the API.
    package func json(app: AppID) -> JSON {
        switch self {
        case .published(let done):
            .fields([
                ("outcome", .text("published")), ("app", .text(app.text)), ("channel", .text(done.channel.text)),
                ("roleVersion", .integer(done.version)), ("patches", .integer(done.counts.entries)),
                ("assets", .integer(done.counts.assets)), ("signatures", .integer(done.counts.signatures)),
                ("filesWritten", .integer(done.change.files)), ("bytesWritten", .integer(done.change.bytes)),
                ("repaired", .array(done.change.repaired.map { .text($0) })),
                ("snapshot", .integer(done.roles.snapshot)),
                ("timestamp", .integer(done.roles.timestamp)), ("dial", .integer(done.roles.dial)),
                ("expires", .text(done.roles.expires.description)),
                (
                    "started",
                    done.started.isEmpty ? nil : .array(done.started.map { $0.json(in: done.channel) })
                ),
                (
                    "heldBack",
                    done.heldBack.isEmpty
                        ? nil : .array(done.heldBack.map { $0.json.adding([("words", .text($0.holdWords))]) })
                ),
                ("lapses", done.lapses.isEmpty ? nil : .array(done.lapses.map(\.json))),
                (
                    "developersWait",
                    done.developersWait.isEmpty
                        ? nil
                        : .array(
                            done.developersWait.map { standing in
                                standing.json.adding([
                                    ("line", .text("\(standing.line)")), ("words", .text(standing.warning ?? "")),
                                ])
                            }
                        )
                ),
                (
                    "warnings",
                    done.endings.isEmpty
                        ? nil : .array(done.endings.map { .fields([("words", .text("\($0)"))]) })
                ),
                ("leftOutPacks", done.leftOutPacks.isEmpty ? nil : .array(done.leftOutPacks.map(\.json))),
                ("formsPending", done.awaitsForms ? .bool(true) : nil),
                ("filesRemoved", done.removedForms.files == 0 ? nil : .integer(done.removedForms.files)),
                ("bytesRemoved", done.removedForms.files == 0 ? nil : .integer(done.removedForms.bytes)),
                ("dialHint", DialLapse.hint(done.lapses, in: done.channel).map { .text($0) }),
            ])
        case .drafted(let channel, let version, let quorum):
            .fields([
                ("outcome", .text("drafted")), ("app", .text(app.text)), ("channel", .text(channel.text)),
                ("roleVersion", .integer(version)), ("signatures", .integer(quorum.valid)),
                ("threshold", .integer(quorum.needed)),
            ])
        case .alreadyPublished(let channel, let version, let change):
            .fields([
                ("outcome", .text("alreadyPublished")), ("app", .text(app.text)), ("channel", .text(channel.text)),
                ("roleVersion", .integer(version)), ("filesWritten", .integer(change.files)),
                ("repaired", .array(change.repaired.map { .text($0) })),
            ])
        }
    }
}
