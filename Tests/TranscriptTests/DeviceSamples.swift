import PatchCompression
import PatchDelta
import PatchFetch
import APIProxy
import HTTPFiles
import HTTPCore
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import PatchTrust
@testable import Patchline
import ReleaseFolder
import SystemPackage

extension Sample {
    static let noRoom = SpaceShortage(needs: 52_700_000, free: 39_000_000, reserve: 16_000_000)
}

extension SyncError: Sampled {
    static var samples: [SyncError] {
        let platform = Platform(name: "linux", compatibility: "5e5e")
        let plain: [SyncError] = [
            .format(Sample.format), .object(entry: "\(Sample.label)", field: "sha256"), .noStore("device"),
            .storeIncomplete("device/trust/root.json"),
            .storeExists("device"), .rootNamesNoApp, .nothingPending, .nothingToRollBackTo, .nothingInstalled,
            .waitsForLaunch, .heldBack(.postponed(until: Sample.after)), .heldBack(.window(opens: Sample.after)),
            .blacklisted(Sample.label, until: Sample.time),
            .otherAppBuild(given: Sample.named("412"), embedded: Sample.named("411")), .trialRunning,
            .noRoom(Sample.label, Sample.noRoom), .waitsForTrial, .notKept("port 8081 is taken by another program"),
            .notKept(nil),
            .unreadable(Sample.format), .pack("\(Sample.label) pack from 1.0.0", .signatures(.column)),
        ]
        let nested: [[SyncError]] = [
            FetchError.samples.map { .fetch($0) }, TrustError.samples.map { .trust($0) },
            FileError.samples.prefix(10).map { .file($0) }, StoreLockError.samples.map { .lock($0) },
            platform.map {
                [.incompatible(Sample.label, $0, needs: nil), .incompatible(Sample.label, $0, needs: "c1")]
            }
                ?? [], ReleaseError.samples.map { .embedded("shipped", $0) },
        ]
        return plain + nested.joined()
    }

    var isSampled: Bool {
        switch self {
        case .fetch, .trust, .format, .file, .lock, .object, .pack, .noStore, .storeIncomplete, .storeExists,
            .rootNamesNoApp,
            .nothingPending,
            .nothingToRollBackTo, .nothingInstalled, .waitsForLaunch, .heldBack, .noRoom, .blacklisted, .incompatible,
            .embedded,
            .otherAppBuild, .trialRunning, .waitsForTrial, .notKept, .unreadable:
            true
        }
    }
}

extension FetchError: Sampled {
    private static let file = "metadata/7.production.json"

    static var samples: [FetchError] {
        [
            .notFound("metadata/timestamp.json"), .notFound(file), .status(file, code: 500), .status(file, code: 403),
            .busy(file, code: 503, retryAfter: 30), .redirected(file, to: "https://example.com/"),
            .tooLarge(file, limit: 1_000), .short(file), .timedOut(file), .stalled(file),
            .connection(file, reason: "the network is unreachable"), .noAddress(host: "updates.example.com"),
            .encoded(file, as: "br"), .webPage(file),
            .intercepted(file, .redirect(to: "http://login.example.net/")), .intercepted(file, .status(511)),
            .intercepted(file, .status(407)), .notTaken(file, reason: "is not JSON"),
            .syncDeadline(seconds: 60), .newerList, .cancelled,
        ] + AnswerFault.samples.map { .answer(file, $0) } + TLSFault.samples.map { .tls($0) }
            + CompressionError.samples.map { .badForm(file, $0) }
    }

    var isSampled: Bool {
        switch self {
        case .notFound, .status, .busy, .redirected, .tooLarge, .short, .timedOut, .stalled, .connection, .noAddress,
            .tls,
            .answer,
            .encoded, .badForm, .webPage, .intercepted, .notTaken, .syncDeadline,
            .newerList,
            .cancelled:
            true
        }
    }
}

extension CompressionError: Sampled {
    static var samples: [CompressionError] {
        [
            .damaged(.gzip, reason: "invalid stored block lengths"), .tooLong(.zstandard, limit: 1_000),
            .notSmaller(.gzip, limit: 1_000), .incomplete(.zstandard), .noMemory(.zstandard),
        ]
    }

    var isSampled: Bool {
        switch self {
        case .damaged, .tooLong, .notSmaller, .incomplete, .noMemory: true
        }
    }
}

extension TLSFault: Sampled {
    private static let host = "updates.example.com"

    static let samples: [TLSFault] = [
        .wrongHostName(host: host), .unknownIssuer(host: host), .expired(host: host, at: Sample.time),
        .notYetValid(host: host, until: Sample.time), .notTLS(host: host),
        .pinMismatch(found: PublicKeyPin(digest: Sample.digest)), .notEncrypted(host: host), .noAuthority,
        .handshake(host: host, reason: "PROTOCOL_VERSION"),
    ]

    var isSampled: Bool {
        switch self {
        case .wrongHostName, .unknownIssuer, .expired, .notYetValid, .notTLS, .pinMismatch, .notEncrypted, .noAuthority,
            .handshake:
            true
        }
    }
}

extension LocalServerError: Sampled {
    static let samples: [LocalServerError] = [
        .portInUse(8_081), .device(.nothingInstalled), .listener(.listenerFailed(reason: "Too many open files")),
        .alreadyStarting, .stopped, .other("something else"),
    ]

    var isSampled: Bool {
        switch self {
        case .portInUse, .listener, .device, .alreadyStarting, .stopped, .other: true
        }
    }
}

extension NotEligible: Sampled {
    static var samples: [NotEligible] {
        let platform = Platform(name: "linux", compatibility: "5e5e")
        return [
            .rollout(cohort: 7_000, effective: 2_500), .paused(reason: nil), .paused(reason: "checkout errors"),
            .dialMissing, .appVersion(needs: ">=2.1", has: nil), .appVersion(needs: ">=2.1", has: "2.0"),
            .condition("lang==de"), .malformedCondition(.tooManyComparisons), .users(isKnown: true),
            .users(isKnown: false), .unknownRule("phaseOfTheMoon"), .waiting(until: Sample.time),
            .blocked(until: Sample.time), .rolledBackByHand(until: Sample.time),
            .transferWaiting(failures: 3, until: Sample.time), .notReceived,
            .metered(MeteredWait(cost: 48_000, left: 20_000)), .metered(MeteredWait(cost: nil, left: 0)),
            .metered(MeteredWait(cost: 48_000, left: 0, together: [Sample.script])), .noRoom(Sample.noRoom),
        ] + (platform.map { [.incompatible($0)] } ?? []) + [
            .republished, .unmet(requires: Sample.script, because: nil),
            .unmet(requires: Sample.script, because: .dialMissing), .breaks(Sample.label), .noPlace(headcount: 5_000),
            .held, .notChosen(Sample.version), .unapproved(Sample.label),
        ]
    }

    var isSampled: Bool {
        switch self {
        case .rollout, .paused, .dialMissing, .appVersion, .condition, .malformedCondition, .users, .unknownRule,
            .waiting, .blocked, .rolledBackByHand, .transferWaiting, .notReceived, .metered, .noRoom, .incompatible,
            .republished,
            .unmet, .breaks, .noPlace, .held, .notChosen, .unapproved:
            true
        }
    }
}

extension IgnoredAnswer: Sampled {
    static let samples: [IgnoredAnswer] = [
        .notListed, .notAbove, .notEligible(.dialMissing), .takesAway, .nothingToHold,
    ].map { IgnoredAnswer(patchID: Sample.patch, why: $0) }

    var isSampled: Bool {
        switch why {
        case .notListed, .notAbove, .notEligible, .takesAway, .nothingToHold: true
        }
    }
}

extension PatternError: Sampled {
    static let samples: [PatternError] = [
        .empty, .tooLong, .tooLarge, .unbalanced(at: 3), .nothingToRepeat(at: 3), .badRange(at: 3),
        .unsupported(at: 3), .noPath,
    ]

    var isSampled: Bool {
        switch self {
        case .empty, .tooLong, .tooLarge, .unbalanced, .nothingToRepeat, .badRange, .unsupported, .noPath: true
        }
    }
}

extension ProxyRuleError: Sampled {
    static let samples: [ProxyRuleError] =
        [.noUpstream, .upstream("ftp://example.com"), .tooManyUpstreams, .cookiePath]
        + PatternError.samples.map { .pattern($0) }

    var isSampled: Bool {
        switch self {
        case .noUpstream, .pattern, .upstream, .tooManyUpstreams, .cookiePath: true
        }
    }
}

extension Condition.Problem: Sampled {
    static let samples: [Condition.Problem] = [
        .tooLong, .tooManyComparisons, .malformed("lang=de"), .key("la ng==de"), .value("lang== de"),
        .notANumber("lang>de"),
    ]

    var isSampled: Bool {
        switch self {
        case .tooLong, .tooManyComparisons, .malformed, .key, .value, .notANumber: true
        }
    }
}

extension PatchlineApp.Event: Sampled {
    static let samples: [PatchlineApp.Event] = [
        .nothingInstalled, .serving("web 1.4.2", onTrial: false), .serving("web 1.4.2", onTrial: true),
        .confirmed("web 1.4.2"), .rolledBack(to: "web 1.4.1", from: "web 1.4.2", because: "a script of it failed"),
        .rolledBack(to: nil, from: "web 1.4.2", because: nil),
        .unproven("web 1.4.2"), .superseded("web 1.4.2", by: "web 1.4.3"), .superseded("web 1.4.2", by: nil),
        .withdrawn(["web", "fix-cart-total"]), .following(channel: "beta"),
        .damaged(["web 1.4.2 app.js"]), .syncing(percent: 40), .synced(isNew: true), .synced(isNew: false),
        .putOff([
            PatchlineStore.PutOff(
                DeferredVersion(
                    content: PatchContent(patchID: Sample.patch, sha256: Sample.digest),
                    version: Sample.version,
                    size: .exactly(48_000),
                    wait: MeteredWait(cost: 48_000, left: 20_000)
                )
            )
        ]),
        .syncFailed("the server stopped sending"),
        .parametersChanged(PatchlineApp.Parameters(OnlineParameters(app: Sample.app, channel: Sample.channel))),
        .trouble("the disk is full"),
    ]

    var isSampled: Bool {
        switch self {
        case .nothingInstalled, .serving, .confirmed, .rolledBack, .unproven, .superseded, .withdrawn, .following,
            .damaged, .syncing, .synced, .putOff, .syncFailed, .parametersChanged, .trouble:
            true
        }
    }
}
