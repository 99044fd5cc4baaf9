import DeviceOutput
import PatchFetch
import Foundation
import PatchChoice
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import PatchTrust

import SystemPackage
import Terminal
import Testing

@testable import PatchSyncCommand
@testable import Patchline

@Suite("What patchsync tells while it works")
struct LaunchTranscripts {
    @Test func `stands in its transcript, of serving and of syncing`() throws {
        var transcript = Transcript("patchsync-events", about: "Lines of patchsync serve, and of a sync while it runs.")
        let bundle = Selection(number: 3, roleVersion: 7, patches: [Self.web], entryKeys: .none)
        let digits = try #require(LaunchToken(String(repeating: "5e", count: 16)))
        let events: [LocalServer.Event] = [
            .app(.nothingInstalled), .app(.serving(bundle, trial: nil)), .app(.serving(bundle, trial: digits)),
            .app(.following(Sample.beta)), .app(.withdrawn([Sample.patch])), .app(.damaged(["web 1.4.2 app.js"])),
            .app(.confirmed(bundle)), .app(.rolledBack(to: nil, from: bundle)),
            .app(.rolledBack(to: bundle, from: bundle)), .app(.unproven(bundle)),
            .app(.bundleMissing(Sample.patch, there: [Sample.script])),
            .app(.parametersChanged(OnlineParameters(app: Sample.app, channel: Sample.channel))),
            .app(.trouble(.file(.noSpace(.write, Sample.path)))), .portTaken(8_081, next: 8_082),
            .synced(.failure(.fetch(.stalled("metadata/timestamp.json")))), .parametersTrouble(.fetch(.newerList)),
        ]
        transcript.list(
            "serving",
            try Written.lines { console in
                let launch = LaunchEvents(json: false, store: "/var/lib/app", out: console, errors: console)
                for event in events { launch.take(event) }
                launch.isOpen()
            }
        )
        let failure = PatchFailure(patchID: Sample.patch, version: Sample.version, error: .fetch(.cancelled))
        let steps: [SyncEvent] = [
            .verified(roleVersion: 7, entries: 3), .downloading(files: 0, bytes: 0),
            .byPack(PackUse(label: Sample.label, base: Sample.named("1.0.0"), bytes: 12_345, estimate: 345_678)),
            .byPack(
                PackUse(
                    label: Sample.label,
                    base: Sample.named("1.0.0"),
                    through: Sample.named("1.2.0"),
                    bytes: 12_345,
                    estimate: 345_678
                )
            ),
            .packRefused(Sample.label, because: .fetch(.tooLarge("packs/5e5e/from-7a7a.pack", limit: 1_048_576))),
            .state(Sample.patch, Sample.version, .add, fault: nil), .downloading(files: 0, bytes: 0),
            .waiting(.seconds(8), because: .fetch(.stalled("metadata/timestamp.json"))), .networkChanged,
            .newerList(roleVersion: 8), .failed(failure),
        ]
        transcript.list(
            "syncing",
            try Written.lines { console in
                let sync = SyncTranscript(console)
                for step in steps { sync.take(step) }
            }
        )
        try transcript.check()
    }

    static let web = InstalledPatch(
        PatchEntry(
            patchID: Sample.patch,
            kind: .bundle,
            version: Sample.version,
            url: "web",
            fingerprint: Fingerprint(of: [1]),
            signature: EntrySignature(keyID: Sample.digest, bytes: []),
            salt: [],
            rules: .everyone
        ),
        column: nil
    )
}

/// What `run` says besides: of its settings, and with each store's name.
@Suite("What patchsync run tells")
struct DaemonTranscripts {
    @Test func `stands in its transcript, in words and as JSON`() throws {
        var transcript = Transcript("patchsync-run", about: "Lines of patchsync run.")
        var shop = StoreSettings(name: "shop", store: "/var/lib/shop")
        let address = LocalServer.Address(port: 8_081, token: nil)
        let busy = Failure(
            "d.yaml:4 there is no setting 'sync'",
            hint: "did you mean sync-every?",
            exitCode: .malformed
        )
        let change = SettingsChange(from: [shop], to: [])
        for json in [false, true] {
            transcript.list(
                json ? "as JSON" : "in words",
                try Written.lines { console in
                    let events = DaemonEvents(json: json, out: console, errors: console)
                    let told: [StoreEvent] = [
                        .made, .differs(["channel (beta, not production)"]), .listening(address),
                        .app(.app(.nothingInstalled)),
                        .proxy("a server is gone"), .trouble(.device(.noStore("/var/lib/shop"))),
                        .trouble(.server(.portInUse(8_081))), .trouble(.other("no authority")),
                    ]
                    for event in told { events.take(event, of: shop) }
                    shop.urlFile = "/nowhere/shop.html"
                    events.take(.listening(address), of: shop)
                    shop.urlFile = nil
                    events.reloaded(change)
                    events.reloaded(SettingsChange(from: [shop], to: [shop]))
                    events.kept(busy)
                    events.unwatched(FileError(.noSpace, .watch, "/etc/patchline"))
                }
            )
        }
        transcript.section(
            "that it does not begin",
            [
                Failure(SettingsOnDisk.Fault.file(.notFound(.read, "/etc/patchline/patchsync.yaml"))),
                Failure(
                    SettingsOnDisk.Fault.settings(DaemonSettingsFault(file: "d.yaml", line: nil, rule: "is not UTF-8"))
                ),
                Failure.servedAlready(store: "/var/lib/shop", by: 4_711, "shop"),
                Failure.servedAlready(store: "/var/lib/shop", by: nil, nil), Failure.servedAlready(by: nil, port: nil),
            ]
            .map(\.transcript)
        )
        transcript.list("in systemctl status", [DaemonLife.status([shop]), DaemonLife.status(keptBecause: busy)])
        try transcript.check()
    }
}
