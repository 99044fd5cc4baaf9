import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

extension FileError: Sampled {
    static let samples: [FileError] =
        [
            .notFound(.read, Sample.path), .exists(.create, Sample.path), .noSpace(.write, Sample.path),
            .readOnly(.write, Sample.path), .permission(.read, Sample.path), .tooLarge(Sample.path, limit: 1_000),
            .notRegular(.read, Sample.path), .notDirectory(.list, Sample.path),
            .cannotLink(Sample.path, .improperLink), .io(.sync, Sample.path, .ioError),
        ]
        + [.append, .inspect, .link, .lock, .makeDirectory, .remove, .rename, .setPermissions].map {
            .io($0, Sample.path, .ioError)
        }

    var isSampled: Bool {
        switch self {
        case .notFound, .exists, .noSpace, .readOnly, .permission, .tooLarge, .notRegular, .notDirectory, .cannotLink,
            .io:
            true
        }
    }
}

extension StoreLockError: Sampled {
    static let samples: [StoreLockError] = [
        .held(Sample.path, by: 4_711), .held(Sample.path, by: nil), .file(.noSpace(.lock, Sample.path)),
        .file(.permission(.lock, Sample.path)),
    ]

    var isSampled: Bool {
        switch self {
        case .held, .file: true
        }
    }
}

extension ReleaseError: Sampled {
    static let samples: [ReleaseError] = [
        .file(.permission(.read, Sample.path)), .format(Sample.format), .missing("objects/5e/\(Sample.digest)"),
        .trust(.threshold(role: "production", valid: 1, needed: 2)), .trust(.noSHA256(target: "production/list.json")),
        .trust(.malformed(Sample.format)),
    ]

    var isSampled: Bool {
        switch self {
        case .file, .format, .trust, .missing: true
        }
    }
}

extension EntryFault: Sampled {
    static let samples: [EntryFault] = [
        .differs("sha256"), .signature, .unknownKey(Sample.digest), .unreadable("is not UTF-8"), .republished,
    ].map { EntryFault(entry: "\(Sample.label)", rule: $0) }

    var isSampled: Bool {
        switch rule {
        case .differs, .signature, .unknownKey, .unreadable, .republished: true
        }
    }
}

extension TrustError: Sampled {
    private static let role = "production"
    private static let target = "production/web/1.4.2/manifest.json"

    static let samples: [TrustError] =
        [
            .malformed(Sample.format), .threshold(role: role, valid: 1, needed: 2),
            .rolledBack(role: role, offered: 6, trusted: 7), .wrongVersion(role: role, offered: 9, expected: 8),
            .expired(role: role, expires: Sample.time, at: Sample.after),
            .clockAheadOrStale(role: role, expires: Sample.time, clock: Sample.after),
            .clockAheadOrStale(role: "timestamp", expires: Sample.time, clock: Sample.after),
            .clockBehind(role: role, expires: Sample.time, clock: Sample.before, atLeast: Sample.after),
            .wrongLength(name: target, found: 10, expected: 20), .wrongDigest(name: target, algorithm: "sha256"),
            .unknownHash(name: target, algorithm: "blake3"), .noSHA256(target: target), .notInSnapshot(role: role),
            .droppedFromSnapshot(role: role), .notDelegated(role: role), .retired(channel: role),
            .noChannel("prodution", known: ["beta", role]), .noChannel("nightly", known: []),
            .outsideDelegation(role: role, target: "beta/list.json"), .noTarget(role: role, target: target),
            .targetNotFound(target), .tooManyDelegations(target: target, limit: 32),
            .shadowed(target: target, role: role, by: "beta"), .tooManyRoots(limit: 1_024),
            .foreign(document: "list.json", field: "app", found: "com.example.other", expected: Sample.app.text),
            .testingKey(role: role),
        ] + EntryFault.samples.map(TrustError.entry)

    var isSampled: Bool {
        switch self {
        case .malformed, .threshold, .rolledBack, .wrongVersion, .expired, .clockAheadOrStale, .clockBehind,
            .wrongLength, .wrongDigest, .unknownHash, .noSHA256, .notInSnapshot, .droppedFromSnapshot, .notDelegated,
            .retired, .noChannel,
            .outsideDelegation, .noTarget, .targetNotFound, .tooManyDelegations, .shadowed, .tooManyRoots, .foreign,
            .testingKey, .entry:
            true
        }
    }
}

extension KeyError: Sampled {
    static let samples: [KeyError] = [
        .unreadable, .needsPassphrase, .wrongPassphrase, .unusablePassphrase, .tooSmall(bits: 1_024),
        .tooLarge(bits: 16_384), .longExponent, .tooMuchWork("100,000,000 rounds of PBKDF2"), .unsupported,
        .unfit(.ed25519, wanted: "RSA"), .unfit(.p256, wanted: "RSA"), .unfit(.rsa(bits: 2_048), wanted: "Ed25519"),
        .failed("no random numbers"),
    ]

    var isSampled: Bool {
        switch self {
        case .unreadable, .needsPassphrase, .wrongPassphrase, .unusablePassphrase, .tooSmall, .tooLarge, .longExponent,
            .tooMuchWork, .unsupported, .unfit, .failed:
            true
        }
    }
}

extension TokenError: Sampled {
    static let samples: [TokenError] = [
        .uri("must begin with pkcs11:"), .unnamedModule, .noModule("/usr/lib/softhsm2.so"), .noEngine,
        .noToken("release", present: []), .noToken("release", present: ["spare", "other"]), .noKey, .needsPIN,
        .wrongPIN, .lockedPIN, .key(.unsupported), .failed("the token does not answer"),
    ]

    var isSampled: Bool {
        switch self {
        case .uri, .unnamedModule, .noModule, .noEngine, .noToken, .noKey, .needsPIN, .wrongPIN, .lockedPIN, .key,
            .failed:
            true
        }
    }
}

extension JSPatchError: Sampled {
    static let samples: [JSPatchError] = [
        .notPEM, .notRSA, .tooSmall(bits: 512), .tooCostly, .length(128, expected: 256), .outOfRange, .blockType,
        .paddingByte(0xFE, at: 17), .shortPadding(3), .noText, .textLength(31, expected: 32), .notHex,
        .otherDigest(signed: "0cc175b9c0f1b6a831c399e269772661", found: "92eb5ffee6ae2fec3ad71c777531578f"),
    ]

    var isSampled: Bool {
        switch self {
        case .notPEM, .notRSA, .tooSmall, .tooCostly, .length, .outOfRange, .blockType, .paddingByte, .shortPadding,
            .noText, .textLength, .notHex, .otherDigest:
            true
        }
    }
}
