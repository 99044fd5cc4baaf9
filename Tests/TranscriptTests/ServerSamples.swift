import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords
import SystemPackage

@testable import PatchServerCommand

extension ServerError: Sampled {
    static var samples: [ServerError] {
        let plain: [ServerError] = [
            .file(.noSpace(.write, Sample.path)), .file(.permission(.write, Sample.path)), .unknownApp(Sample.app),
            .noChannel(Sample.app, Sample.named("gamma"), known: [Sample.channel, Sample.beta]), .appExists(Sample.app),
            .malformed(Sample.format), .setup(document: "root.json", rule: RootOfTrust.snapshotRule),
            .setup(document: "root.json", rule: RootOfTrust.appRule),
            .setup(document: "targets.json", rule: RootOfTrust.targetsRule),
            .setup(document: "dial", rule: OnlineKey.rule(threshold: 2)),
            .setup(document: "timestamp", rule: OnlineKey.rule(.failed("no random numbers"))),
            .notOnlineKey(role: "timestamp", belongsTo: nil), .notOnlineKey(role: "timestamp", belongsTo: "production"),
            .testingKey("timestamp"), .ended(role: "targets", expires: Sample.time, at: Sample.after),
            .sharedOnlineKey(with: Sample.otherApp),
            .release(.trust(.expired(role: "production", expires: Sample.time, at: Sample.after))),
            .release(.trust(.expired(role: "targets", expires: Sample.time, at: Sample.after))),
            .tree(Sample.app, .malformed(FormatError("timestamp", rule: "is not JSON"))),
            .tree(Sample.app, .wrongDigest(name: "snapshot", algorithm: "sha256")),
            .tree(Sample.app, .threshold(role: "targets", valid: 0, needed: 1)),
            .treeFileMissing(Sample.app, "tree/\(Sample.app)/metadata/7.production.json"), .movedOn(Sample.app),
            .record(Sample.app, FormatError("labels.json", rule: "is not JSON")),
            .labelsFull(Sample.app, size: 5_100_000, limit: 5_000_000),
            .republished(EntryFault(entry: "\(Sample.label)", rule: .republished), difference: "sha256"),
            .exhausted(Sample.app, role: "timestamp"),
        ]
        let nested: [[ServerError]] = [
            ClockBehind.samples.map { .clockBehind($0) },
            StoreLockError.samples.map { .locked($0) },
            [KeyError.unreadable, .needsPassphrase, .wrongPassphrase, .failed("no random numbers")].map {
                .key(FilePath("/srv/patchline/apps/\(Sample.app)/online.key"), $0)
            },
            ReleaseError.samples.map { .release($0) }, PublishConflict.samples.map { .conflict($0) },
            DialRefusal.samples.map { .dial($0) }, ParametersRefusal.samples.map { .parameters($0) },
            TrustRefusal.samples.map { .trust($0) },
        ]
        return plain + nested.joined()
    }

    var isSampled: Bool {
        switch self {
        case .file, .locked, .unknownApp, .noChannel, .appExists, .malformed, .setup, .key, .notOnlineKey, .testingKey,
            .sharedOnlineKey, .ended, .clockBehind, .tree, .treeFileMissing, .movedOn, .record, .labelsFull, .release,
            .republished, .conflict, .dial,
            .parameters, .trust, .exhausted:
            true
        }
    }
}

extension ClockBehind {
    /// Behind a signature, and behind the build.
    static let samples = [
        ClockBehind(clock: UTCTime(seconds: 60), signedAt: Sample.time, build: Sample.before),
        ClockBehind(clock: UTCTime(seconds: 60), signedAt: nil, build: Sample.before),
    ].compactMap(\.self)
}

extension PublishConflict: Sampled {
    static let samples: [PublishConflict] = [
        .outdated(channel: Sample.channel, base: 6, current: 7),
        .otherBase(channel: Sample.channel, version: 6, base: Sample.digest, current: Sample.otherDigest),
        .versionUsed(channel: Sample.channel, version: 7),
        .otherDraft(channel: Sample.channel, version: 7, kept: Sample.digest, offered: Sample.otherDigest),
    ]

    var isSampled: Bool {
        switch self {
        case .outdated, .otherBase, .versionUsed, .otherDraft: true
        }
    }
}

extension DialRefusal: Sampled {
    static let samples: [DialRefusal] = [
        .unpublished(Sample.beta), .notListed(Sample.channel, "\(Sample.label)"),
        .aboveCeiling(Sample.patch, Sample.version, asked: 5_000, ceiling: 2_500),
        .notNew(Sample.channel, Sample.patch),
        .headcountLowered(Sample.patch, Sample.version, asked: 1_000, current: 5_000),
        .outdated(expected: 3, current: 4),
        .tooLarge(size: 1_100_000, limit: 1_000_000),
    ]

    var isSampled: Bool {
        switch self {
        case .unpublished, .notListed, .aboveCeiling, .notNew, .headcountLowered, .outdated, .tooLarge: true
        }
    }
}

extension ParametersRefusal: Sampled {
    static let samples: [ParametersRefusal] = [
        .unpublished(Sample.beta), .outdated(expected: Sample.digest, current: Sample.otherDigest),
        .tooMany(count: 1_001, limit: 1_000), .tooLarge(size: 70_000, limit: 65_536),
    ]

    var isSampled: Bool {
        switch self {
        case .unpublished, .outdated, .tooMany, .tooLarge: true
        }
    }
}

extension TrustRefusal: Sampled {
    static let samples: [TrustRefusal] = [
        .missingRoot(version: 3), .older("root", offered: 2, current: 4), .forked("targets", version: 4),
        .untrusted(document: "3.root.json", .threshold(role: "root", valid: 0, needed: 1)),
        .otherApp(found: nil, expected: Sample.app), .otherApp(found: Sample.otherApp, expected: Sample.app),
        .otherOnlineKey,
        .channelUntrusted(Sample.channel, version: 7, .threshold(role: "production", valid: 0, needed: 1)),
        .channelVanished("beta"), .channelRetired(Sample.beta), .channelRollback(Sample.channel, version: 6, known: 7),
        .channelRollback(Sample.channel, version: 0, known: 7), .twoReleases(Sample.channel),
        .versionUsed("production", version: 8),
    ]

    var isSampled: Bool {
        switch self {
        case .missingRoot, .older, .forked, .untrusted, .otherApp, .otherOnlineKey, .channelUntrusted, .channelVanished,
            .channelRetired, .channelRollback, .twoReleases, .versionUsed:
            true
        }
    }
}

extension ExportError: Sampled {
    static let samples: [ExportError] =
        StoreLockError.samples.map { .locked($0) } + [
            .server(.movedOn(Sample.app)), .otherRoot(Sample.app, "/srv/www"),
            .older(Sample.app, timestamp: 41, inFolder: 42),
        ]

    var isSampled: Bool {
        switch self {
        case .server, .locked, .otherRoot, .older: true
        }
    }
}

extension SettingsError: Sampled {
    /// As the settings of `patchsrv serve` have it.
    private static let rule = ServeSettings.all.first { $0.name == "log-format" }?.rule ?? ""

    static let samples: [SettingsError] = [
        .notSettings(file: "patchsrv.yaml", line: nil, rule: "is not a mapping"),
        .notSettings(file: "patchsrv.yaml", line: 3, rule: "is not UTF-8"),
        .unknownKey(file: "patchsrv.yaml", line: 3, key: "prot", nearest: "port"),
        .unknownKey(file: "patchsrv.yaml", line: 3, key: "frobnicate", nearest: nil),
        .badValue(.file("patchsrv.yaml", line: 4), name: "log-format", rule: rule),
        .badValue(.environment("PATCHSRV_LOG_FORMAT"), name: "log-format", rule: rule),
        .badValue(.option, name: "log-format", rule: rule),
        .badValue(.standard, name: "log-format", rule: rule),
    ]

    var isSampled: Bool {
        switch self {
        case .notSettings, .unknownKey, .badValue: true
        }
    }
}

extension OperationError: Sampled {
    static var samples: [OperationError] {
        [
            .server(.movedOn(Sample.app)), .records(RecordError.samples[0]), .stopping, .keyIsLocked,
            .keyUnusable("the online key is not a PEM key"),
            .keyRefused(ReleaseOperations.clearKey), .busy,
            .noRelease(Sample.channel, version: 12), .tooManyAnswers(limit: 100),
            .answersFull(Sample.channel, limit: 100_000),
        ] + ProposalFault.samples.map { .proposal($0) }
    }

    var isSampled: Bool {
        switch self {
        case .server, .records, .stopping, .keyIsLocked, .keyUnusable, .keyRefused, .busy, .proposal, .noRelease,
            .tooManyAnswers, .answersFull:
            true
        }
    }
}

extension ProposalFault: Sampled {
    static let samples: [ProposalFault] = [
        .notDelegated(Sample.named("gamma")), .nothingPublished(Sample.beta), .sameChannel,
        .notListed(Sample.patch, nil), .notListed(Sample.patch, Sample.version),
        .listingRemoved(Sample.patch, Sample.version, release: 7),
        .noOlder(version: 9, current: 7, older: []), .noOlder(version: 9, current: 7, older: [6, 5]),
        .otherContent(Sample.label), .unknown, .done, .tooMany(limit: 100),
    ]

    var isSampled: Bool {
        switch self {
        case .notDelegated, .nothingPublished, .sameChannel, .notListed, .listingRemoved, .noOlder, .otherContent,
            .unknown, .done, .tooMany:
            true
        }
    }
}

extension RecordError: Sampled {
    static let samples: [RecordError] = [
        .conflict(RecordKey("token", "5e5e")), .nameTaken("ci", id: "0123456789abcdef"),
        .newerSchema(path: "/srv/patchline/records.sqlite"),
        .malformed(RecordKey("token", "5e5e"), rule: "is not JSON"),
        .failed(path: "/srv/patchline/records.sqlite", reason: "database or disk is full", isFull: true),
        .failed(path: "/srv/patchline/records.sqlite", reason: "disk I/O error", isFull: false),
    ]

    var isSampled: Bool {
        switch self {
        case .conflict, .nameTaken, .newerSchema, .malformed, .failed: true
        }
    }
}

extension FileServerError: Sampled {
    static let samples: [FileServerError] = [
        .portInUse(host: "127.0.0.1", port: 8_080),
        .cannotBind(host: "127.0.0.1", port: 80, reason: "Permission denied"),
        .cannotBind(host: "192.0.2.1", port: 8_080, reason: "Cannot assign requested address"),
        .listenerFailed(reason: "Too many open files"), .listenerClosed,
    ]

    var isSampled: Bool {
        switch self {
        case .portInUse, .cannotBind, .listenerFailed: true
        }
    }
}
