import PatchFormat
import PatchTesting
import PatchTrust
import Testing

/// Two apps may have keys in common.
///
/// Then a signature alone does not say for which app a role is.
@Suite("The app that a role names")
struct AppNameTests {
    private static let other = "com.example.other"

    private func foreign(_ role: String) -> TrustError {
        .foreign(document: role, field: "app", found: Self.other, expected: app.text)
    }

    private func naming(_ name: String, _ envelope: Envelope, _ keys: [TestingKey]) throws -> Envelope {
        try Envelope(role: envelope.role, signing: envelope.signed.setting("x-patchline-app", to: .text(name)))
            .signed(by: keys)
    }

    @Test func `keeps another app's timestamp out, whatever its version`() throws {
        var trusted = try World().withRoot()
        let timestamp = try naming(Self.other, try World.timestamp(version: 9, snapshot: World().snapshot), [.online])
        #expect(throws: foreign("timestamp")) { try trusted.updateTimestamp(timestamp.fileBytes) }
        #expect(trusted.timestamp == nil)
    }

    @Test func `keeps another app's snapshot out`() throws {
        var world = try World()
        world.snapshot = try naming(
            Self.other,
            try World.snapshot(targets: world.targets, channel: world.channel),
            [.online]
        ).fileBytes
        world.timestamp = try World.timestamp(snapshot: world.snapshot).fileBytes
        #expect(throws: foreign("snapshot")) { try world.withSnapshot() }
    }

    @Test func `keeps another app's targets, channels and dials out`() throws {
        let targets = try naming(Self.other, try World.targets(), [.targets])
        let one = try World.naming(targets: targets)
        #expect(throws: foreign("targets")) { try one.withTargets() }
        let channel = try naming(Self.other, try World.channel(), [.production])
        let two = try World.naming(channel: channel)
        #expect(throws: foreign("production")) { try two.withEverything() }
        #expect(throws: foreign("targets")) {
            _ = try RootOfTrust(try TrustedRoot(anchor: try World().root), targets: targets.fileBytes)
        }
    }

    @Test func `may be this app's, or missing as in roles of earlier versions`() throws {
        #expect(throws: Never.self) { try World().withEverything() }
        let targets = try naming(app.text, try World.targets(), [.targets])
        let channel = try naming(app.text, try World.channel(), [.production])
        var world = try World.naming(targets: targets, channel: channel)
        world.snapshot = try naming(
            app.text,
            try World.snapshot(targets: world.targets, channel: world.channel),
            [.online]
        ).fileBytes
        world.timestamp = try naming(app.text, try World.timestamp(snapshot: world.snapshot), [.online]).fileBytes
        #expect(throws: Never.self) { try world.withEverything() }
    }

    @Test func `is an app's id, or the role is malformed`() throws {
        var trusted = try World().withRoot()
        let timestamp = try naming("no id", try World.timestamp(snapshot: World().snapshot), [.online])
        #expect(throws: TrustError.self) { try trusted.updateTimestamp(timestamp.fileBytes) }
    }

    @Test func `is written into every role that an online or a release key signs`() throws {
        let (later, file) = (World.later, RoleFile(version: 1, length: nil, sha256: nil))
        let envelopes = [
            RoleDocument.targets(app: app, version: 1, expires: later, delegations: []),
            RoleDocument.delegated("dial", app: app, version: 1, expires: later, targets: [:]),
            RoleDocument.delegated("production", app: app, version: 1, expires: later, targets: [:]),
            RoleDocument.snapshot(app: app, version: 1, expires: later, files: [:]),
            RoleDocument.timestamp(app: app, version: 1, expires: later, snapshot: file, signedAt: World.now),
        ]
        for envelope in envelopes {
            #expect(envelope.signed.object?["x-patchline-app"] == .text(app.text), "\(envelope.role)")
        }
    }
}

@Suite("Until when devices take a release")
struct ReleaseExpiryTests {
    private let now = World.now

    private func role(_ name: String, days: Int) -> ReleaseExpiry.Role {
        ReleaseExpiry.Role(name, expires: now.adding(.days(days)))
    }

    @Test func `is told to a holder who signs a draft that has ended, or ends within a week`() {
        let remedy = "`patchsign root draft` makes it again, with a new expiry"
        #expect(role("root", days: 8).draftWarning(at: now) == nil)
        let soon = role("root", days: 7)
        #expect(soon.draftWarning(at: now) == "the draft's root expires soon, at \(soon.expires); \(remedy)")
        let late = role("targets", days: 0)
        #expect(
            late.draftWarning(at: now)
                == "the draft's targets expired at \(late.expires): devices reject it; \(remedy)"
        )
    }

    private func expiry(release: Int, root: Int, targets: Int) -> ReleaseExpiry {
        ReleaseExpiry(
            release: role("production", days: release),
            root: now.adding(.days(root)),
            targets: now.adding(.days(targets))
        )
    }

    @Test func `is as long as channel, targets and root all hold`() {
        #expect(expiry(release: 90, root: 365, targets: 365).expired(at: now) == nil)
        #expect(expiry(release: 0, root: 365, targets: 365).expired(at: now) == role("production", days: 0))
        #expect(expiry(release: 90, root: 365, targets: -1).expired(at: now) == role("targets", days: -1))
        #expect(expiry(release: 90, root: 0, targets: 365).expired(at: now) == role("root", days: 0))
    }

    @Test func `is told when it ends within a week, or when root or targets end before it`() {
        #expect(expiry(release: 90, root: 365, targets: 365).warnings(at: now).isEmpty)
        let week = expiry(release: 7, root: 365, targets: 365).warnings(at: now)
        #expect(week == [.endsSoon(role("production", days: 7))])
        #expect(expiry(release: 8, root: 365, targets: 365).warnings(at: now).isEmpty)
        let before = expiry(release: 90, root: 365, targets: 30).warnings(at: now)
        #expect(before == [.endsBefore(role("targets", days: 30), release: role("production", days: 90))])
        let (first, last) = (now.adding(.days(30)), now.adding(.days(90)))
        #expect(
            before.first?.description
                == "targets expires at \(first), before production (\(last)): devices take nothing after "
                + "that; `patchsign root draft` starts its renewal"
        )
        let soon = expiry(release: 3, root: 3, targets: 365).warnings(at: now)
        #expect(soon == [.endsSoon(role("root", days: 3)), .endsSoon(role("production", days: 3))])
        #expect(
            soon.last?.description
                == "production expires soon, at \(now.adding(.days(3))); `patchsign release renew` signs "
                + "the release again"
        )
    }
}
