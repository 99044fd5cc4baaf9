import PatchFormat

@testable import PatchServer
@testable import ReleaseService
@testable import ServerRecords

extension ServerReportTranscripts {
    private static func listed(_ version: VersionLabel, _ sha256: SHA256Digest, rollout: Int) -> AppListing.Patch {
        AppListing.Patch(
            patchID: Sample.patch,
            version: version,
            kind: .bundle,
            sha256: sha256,
            rollout: rollout,
            dial: nil,
            size: 1,
            assets: 1
        )
    }

    /// What a proposal and a draft would change, in every form.
    func changes() throws -> [String] {
        func listing(_ own: [AppListing.Patch]) -> AppListing {
            func channel(_ name: ChannelName, _ patches: [AppListing.Patch]) -> AppListing.Channel {
                AppListing.Channel(name: name, version: 7, published: Sample.before, patches: patches)
            }
            // With a share, the second stays where it is.
            let other = channel(
                Sample.beta,
                [
                    Self.listed(Sample.version, Sample.digest, rollout: 10_000),
                    Self.listed(Sample.named("1.3.0"), Sample.otherDigest, rollout: 10_000),
                ]
            )
            return AppListing(app: Sample.app, roles: [], channels: [other, channel(Sample.channel, own)], drafts: [])
        }
        let same = Self.listed(Sample.version, Sample.digest, rollout: 10_000)
        let older = Self.listed(Sample.named("1.4.1"), Sample.otherDigest, rollout: 10_000)
        let owns: [[AppListing.Patch]] = [
            [same], [Self.listed(Sample.version, Sample.digest, rollout: 5_000)], [older, same], [older], [],
        ]
        let promoted = try owns.flatMap { own in
            try [[:], [Sample.patch: 1_000]].flatMap { rollouts in
                try ProposalCheck(
                    .promote(from: Sample.beta, rollouts: rollouts),
                    of: Sample.channel,
                    in: listing(own),
                    hasRelease: true
                ).difference
            }
        }
        let back = try ProposalCheck(.rollBack(to: 5), of: Sample.channel, in: listing([same]), hasRelease: true)
        func patch(_ sha256: SHA256Digest, _ rollout: Int) -> HistoryEntry.Patch {
            HistoryEntry.Patch(label: Sample.label, kind: .bundle, sha256: sha256, rollout: rollout)
        }
        let drafts = [(Sample.digest, 10_000), (Sample.otherDigest, 10_000), (Sample.digest, 5_000)].flatMap {
            WaitingDraft.difference(from: [same], to: [patch($0.0, $0.1)])
        }
        return promoted + back.difference + drafts + WaitingDraft.difference(from: [same], to: [])
    }

    /// A record of each kind that breaks one rule.
    func records() -> [String] {
        var lines: [String] = []
        func note(_ body: () throws -> Void) {
            do { try body() } catch { lines.append("\(error)") }
        }
        func record(_ collection: String, _ name: String, _ members: [(String, JSON?)]) -> Record {
            Record(key: RecordKey(collection, name), revision: 1, value: .fields(members))
        }
        let app: (String, JSON?) = ("app", .text(Sample.app.text))
        let channel: (String, JSON?) = ("channel", .text(Sample.channel.text))
        let by: (String, JSON?) = ("by", Actor.server.json)
        let digest: (String, JSON?) = ("secretSHA256", .text(Sample.digest.hex))
        note {
            _ = try Intent(
                record("intent", "5e5e", [("format", .text("patchline-intent-v1")), app, by, ("action", .text("x"))])
            )
        }
        note { _ = try Places(RecordKey("places", "web")) }
        note { _ = try ServerAnswer(record("answer", "web", [app, channel, ("for", .text("x"))])) }
        note {
            _ = try APIToken(
                record(
                    "token",
                    "5e5e",
                    [
                        ("format", .text("patchline-token-v1")), ("name", .text("CI")), digest,
                        ("grants", .array([.text("x")])),
                    ]
                )
            )
        }
        note { _ = try Actor(Fields(.fields([("kind", .text("x"))]), of: "actor")) }
        note { _ = try AuditEntry(.fields([("number", .integer(0))]), key: AuditEntry.key(1)) }
        note { _ = try ReleaseNotes(Fields(.fields([("commit", .text("main"))]), of: "body")) }
        return lines
    }
}
