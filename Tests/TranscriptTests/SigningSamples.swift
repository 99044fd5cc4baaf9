import Linux
import Gateways
import PatchCompression
import PatchFormat
import PatchLanguage
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

extension SigningError: Sampled {
    static var samples: [SigningError] {
        let mistake = DescriptionError("release.yaml", line: 4, field: "patches[0].version", rule: VersionLabel.rule)
        let gone = WithdrawnVersion(
            patchID: Sample.patch,
            version: Sample.version,
            sha256: Sample.digest,
            serial: 7,
            since: Sample.time
        )
        let keys: FilePath = "Keys"
        let plain: [SigningError] = [
            .file(.noSpace(.write, Sample.path)), .description(mistake),
            .noDescription("Patches/release.yaml", meant: "did you mean Patches/release.yml?"), .descriptions([]),
            .descriptions([mistake, DescriptionError("release.yaml", rule: "is not YAML")]),
            .described(mistake, .missing("Patches/web")),
            .elsewhere(
                DescriptionError("release.yaml", line: 2, field: "channel", rule: ": there is no channel gamma")
            ),
            .elsewhere(DescriptionError("release.yaml", line: 1, field: "app", rule: "must be \(Sample.app)")),
            .incomplete("release2", role: "production", valid: 1, needed: 2),
            .rootOfTrust("Keys/root.json", .threshold(role: "root", valid: 0, needed: 1)),
            .testingKey("Keys/production.key"), .keyInTwoUses("Keys/entry.key", also: "production"),
            .keyInTwoUses("Keys/beta.key", also: SignedRelease.entries),
            .keyInTwoUses("Keys/beta.key", also: SignedRelease.jspatchForms),
            .notASigner("Keys/beta.key", role: "production"), .noKey("root.json", in: keys),
            .noKey("production.pub", in: keys), .noKey("key for production", in: keys),
            .foreign("release1", found: Sample.otherApp.text, expected: Sample.app.text), .unlisted([Sample.patch]),
            .unlisted([Sample.patch, Sample.script]), .republished(Sample.label, difference: "sha256"),
            .unmet(Sample.label, requires: Sample.script), .nothingToWithdraw(Sample.patch, Sample.version),
            .nothingToWithdraw(Sample.patch, nil), .contentStays(Sample.label, as: Sample.named("1.4.3")),
            .withdrawn(Sample.label, since: gone),
            .withdrawn(Label(patchID: Sample.patch, version: Sample.named("1.4.3")), since: gone),
            .exists("release2"), .keyName("../key"), .opensNothing("Keys/online.key"), .opensNothing(keys),
            .scriptName("cart.txt"), .encryptionKey("aes.key", bytes: 17), .noSyncFile("www/index.html"),
            .missingSyncFile("www/index.html"),
        ]
        let nested: [[SigningError]] = [
            ReleaseError.samples.map { .release("release1", $0) }, KeyError.samples.map { .key("Keys/root.key", $0) },
            TokenError.samples.map { .token("Keys/token.yaml", $0) },
            SignerProblem.samples.map { .signer("Keys/signer.yaml", $0) },
            JSPatchError.samples.map { .jspatch("fix.js.jspatch", $0) },
            LoaderError.samples.map { .loader("v2.zip", $0) }, PlatformError.samples.map { .platform("file2", $0) },
            BundleProblem.samples.map { .bundle($0) },
            EmbeddingProblem.samples.map { .embedding("release2", $0) },
            ReplacementRefusal.samples.map { .notReplaced("release2", $0) },
            RootOfTrustPlan.Problem.samples.map { .plan($0) },
            CeremonyError.samples.map { .ceremony("draft.json", $0) },
        ]
        return plain + nested.joined() + packageKeys
    }

    private static var packageKeys: [SigningError] {
        guard let appVersion = AppVersion("2.1"), let key = PlatformAppKey("0a1b2c3d4e5f6071"),
            let version = LoaderVersion(4), let before = LoaderVersion(3)
        else { return [] }
        return [
            .noPackageKey(UnmadePackage(.init(.loader, appVersion), version, options: ["--jspatch-key"], without: nil)),
            .noPackageKey(
                UnmadePackage(.init(.platform(key), appVersion), version, options: ["--aes-key"], without: nil)
            ),
            .noPackageKey(
                UnmadePackage(.init(.loader, appVersion), version, options: ["--jspatch-key"], without: .stay(before))
            ),
            .noPackageKey(
                UnmadePackage(.init(.loader, appVersion), version, options: ["--jspatch-key"], without: .lose(before))
            ),
            .noPackageKey(
                UnmadePackage(
                    .init(.platform(key), appVersion),
                    version,
                    options: ["--aes-key"],
                    without: .lose(before)
                )
            ),
            .noPackageKey(
                UnmadePackage(.init(.platform(key), appVersion), version, options: ["--aes-key"], without: .nothing)
            ),
            .noPackageKey(
                UnmadePackage(.init(.loader, appVersion), version, options: ["--jspatch-key"], without: .lose(before)),
                others: (1...4).compactMap { number in
                    AppVersion("2.\(number)").map {
                        UnmadePackage(
                            .init(.platform(key), $0),
                            version,
                            options: ["--jspatch-key", "--aes-key"],
                            without: .lose(before)
                        )
                    }
                }
            ),
            .otherPackageKey(.init(.loader, appVersion), before, version, option: "--jspatch-key"),
        ]
    }

    var isSampled: Bool {
        switch self {
        case .file, .description, .noDescription, .descriptions, .bundle, .described, .elsewhere, .release, .incomplete,
            .rootOfTrust, .key, .token, .signer, .jspatch, .testingKey, .keyInTwoUses, .notASigner, .noKey, .foreign,
            .unlisted, .republished, .unmet, .nothingToWithdraw, .contentStays, .withdrawn, .embedding, .exists,
            .notReplaced, .plan,
            .keyName, .opensNothing, .ceremony, .loader, .scriptName, .platform, .encryptionKey, .noSyncFile,
            .noPackageKey, .otherPackageKey, .missingSyncFile:
            true
        }
    }
}

extension LoaderError: Sampled {
    static var samples: [LoaderError] {
        guard let old = AppVersion("2.0"), let new = AppVersion("2.1"), let two = LoaderVersion(2),
            let three = LoaderVersion(3)
        else { return [] }
        let place = LoaderPlace(new, three)
        let plain: [LoaderError] = [
            .missing("key"), .unknown("readme.txt"), .tooMany(1_001, limit: 1_000), .twice("cart.js"), .noMain,
            .notUTF8("cart.js"),
            .record(FormatError("patchline.json", field: "version", rule: LoaderVersion.rule)),
            .signature(.shortPadding(3)), .moved(place, from: LoaderPlace(old, two)), .unnamed(place),
            .notNewer(two, installed: three), .archive("script.zip", .noEnd),
        ]
        return plain + ZipError.samples.map { .archive(nil, $0) }
    }

    var isSampled: Bool {
        switch self {
        case .archive, .missing, .unknown, .tooMany, .twice, .noMain, .notUTF8, .record, .signature, .moved, .unnamed,
            .notNewer:
            true
        }
    }
}

extension PlatformError: Sampled {
    static var samples: [PlatformError] {
        let plain: [PlatformError] = [
            .unknown("readme.txt"), .noScripts, .noKey, .tooLarge(limit: 16_000_000), .signature(.shortPadding(3)),
            .encryption(.length(17)), .encryption(.padding), .compression(.incomplete(.gzip)),
            .scriptArchive(.noEnd), .scripts(.noMain),
        ]
        return plain + TarError.samples.map { .archive($0) }
    }

    var isSampled: Bool {
        switch self {
        case .archive, .unknown, .noScripts, .noKey, .tooLarge, .signature, .encryption, .compression, .scriptArchive,
            .scripts:
            true
        }
    }
}

extension TarError: Sampled {
    static var samples: [TarError] {
        let plain: [TarError] = [
            .tooLarge(limit: 16_000_000), .length(1_000), .noEnd, .bytesBehind, .tooMany(limit: 2),
        ]
        return plain + HeaderRule.samples.map { .header(2, $0) } + EntryRule.samples.map { .entry("main.js", $0) }
    }

    var isSampled: Bool {
        switch self {
        case .tooLarge, .length, .noEnd, .bytesBehind, .tooMany, .header, .entry: true
        }
    }
}

extension TarError.HeaderRule: Sampled {
    static let samples: [TarError.HeaderRule] = [.notTar, .checksum, .nameNotUTF8, .number("size"), .prefix]

    var isSampled: Bool {
        switch self {
        case .notTar, .checksum, .nameNotUTF8, .number, .prefix: true
        }
    }
}

extension TarError.EntryRule: Sampled {
    static let samples: [TarError.EntryRule] = [
        .name(.absolute), .nested, .nameTooLong, .doubled, .hardLink, .symbolicLink, .folder, .special(54), .linked,
        .breaksOff(512), .padding,
    ]

    var isSampled: Bool {
        switch self {
        case .name, .nested, .nameTooLong, .doubled, .hardLink, .symbolicLink, .folder, .special, .linked, .breaksOff,
            .padding:
            true
        }
    }
}

extension ZipError: Sampled {
    static var samples: [ZipError] {
        let plain: [ZipError] = [
            .tooLarge(limit: 16_000_000), .noEnd, .bytesBehind(3), .split, .zip64, .tooMany(5_000, limit: 2_000),
            .list("does not end where the end record begins"), .list("ends before its comment does"),
            .list("is truncated at entry 3"), .list("holds more than its entries"), .misplaced(at: 40),
            .tooLong(limit: 64_000_000),
        ]
        return plain + EntryRule.samples.map { .entry("main.js", $0) }
    }

    var isSampled: Bool {
        switch self {
        case .tooLarge, .noEnd, .bytesBehind, .split, .zip64, .tooMany, .list, .misplaced, .tooLong, .entry: true
        }
    }
}

extension ZipError.EntryRule: Sampled {
    static let samples: [ZipError.EntryRule] = [
        .name(.absolute), .nameNotUTF8, .doubled, .encrypted, .streamed, .flags(8_192), .method(12), .symbolicLink,
        .special, .folderWithContent, .contradicts("size"), .extra(1), .length(6, expected: 7), .checksum,
        .compression(.tooLong(.deflate, limit: 699)),
    ]

    var isSampled: Bool {
        switch self {
        case .name, .nameNotUTF8, .doubled, .encrypted, .streamed, .flags, .method, .symbolicLink, .special,
            .folderWithContent, .contradicts, .extra, .length, .checksum, .compression:
            true
        }
    }
}

extension SignerProblem: Sampled {
    static let samples: [SignerProblem] = [
        .command(.commandNotFound("sign-with-kms")), .command(.notStarted("./sign", reason: "Permission denied")),
        .command(.exited(status: 2)), .command(.killed(signal: 9)), .command(.timedOut(seconds: 60)),
        .command(.tooMuchOutput(limit: 16_384)), .doesNotVerify(bytes: 256),
    ]

    var isSampled: Bool {
        switch self {
        case .command(.commandNotFound), .command(.notStarted), .command(.killed), .command(.timedOut),
            .command(.tooMuchOutput), .command(.exited), .doesNotVerify:
            true
        }
    }
}

extension BundleProblem: Sampled {
    private static let file: FilePath = "Patches/web/app.js"
    private static let folder: FilePath = "Patches/web"

    static var samples: [BundleProblem] {
        guard let index = try? AssetPath("index.html"), let page = try? AssetPath("start.html"),
            let inner = try? AssetPath("dist/index.html")
        else { return [] }
        return [
            .missing(file), .symbolicLink(file), .special(file), .notAFolder(folder), .notAFile(folder),
            .badName(file, .tooLong), .notUTF8(in: folder, name: [0x66, 0xFC, 0x72]),
            .reserved("Patches/web/__patchline/x"), .empty(folder),
            .tooManyFiles(folder, limit: 100_000), .noIndex(index, in: folder, pages: []),
            .noIndex(index, in: folder, pages: [page]), .noIndex(index, in: folder, pages: [inner]),
            .manifest(Sample.label, field: "assets[3].path", rule: "differs from another by case only"),
            .gateway(.meteor, "Couldn't load runtime config from index file"), .scriptNotUTF8("Patches/fix.js"),
            .noProgram("Patches/fix.js", line: 2, column: 9, message: "SyntaxError: Unexpected token '='"),
            .noProgram("Patches/fix.js", line: nil, column: nil, message: "it is empty"),
            .noHost("Patches/host.json", .wrong(field: "format", rule: "is not patchline-host-v1")),
            .releaseInside("Patches/web/old"), .secret("Patches/web/key.pem", .privateKey(.pem)),
            .secret("Patches/web/app.js", .token(.gitHub)),
            .archived("Patches/web/all.zip", ArchivedSecret(Array("app/.env".utf8), .settings)),
            .exclusions("Patches/.patchlineignore", line: 2, rule: "names nothing"), .changed(file),
            .badName("Patches/web/pru\u{308}fung.jpg", .notNFC), .badName("Patches/web/a\\b.js", .backslash),
            .twins(index, page, in: folder), .link(file, .outside("/etc/passwd")), .link(file, .nowhere),
            .link(file, .circle), .link(file, .leftOut(".env")), .ignoreFile("Patches/.patchlineignore", .utf32),
            .several([
                .symbolicLink(file), .symbolicLink("Patches/web/b.js"), .badName("Patches/web/u\u{308}.js", .notNFC),
            ]),
            .several((1...7).map { .badName(FilePath("Patches/web/u\u{308}\($0).js"), .notNFC) }),
        ]
    }

    var isSampled: Bool {
        switch self {
        case .twins, .link, .ignoreFile, .several: true
        case .missing, .symbolicLink, .special, .notAFolder, .notAFile, .badName, .notUTF8, .reserved, .empty,
            .tooManyFiles, .noIndex, .manifest, .gateway, .scriptNotUTF8, .noProgram, .noHost, .releaseInside,
            .secret, .archived,
            .exclusions, .changed:
            true
        }
    }
}

extension EmbeddingProblem: Sampled {
    static let samples: [EmbeddingProblem] = [
        .nothing, .notListed(Sample.patch, Sample.version), .unmet(Sample.label, requires: Sample.script),
        .sameFolder(Sample.patch, Sample.named("WEB")),
    ]

    var isSampled: Bool {
        switch self {
        case .nothing, .notListed, .unmet, .sameFolder: true
        }
    }
}

extension ReplacementRefusal: Sampled {
    static let samples: [ReplacementRefusal] = [
        .noFolder, .unmarked(wanted: "release.json"), .foreign("notes.txt"),
        .kept(KeptFolder("the source folder", "/home/ada/Patches")),
    ]

    var isSampled: Bool {
        switch self {
        case .noFolder, .unmarked, .foreign, .kept: true
        }
    }
}

extension RootOfTrustPlan.Problem: Sampled {
    static let samples: [RootOfTrustPlan.Problem] = [
        .channel("Gamma", rule: ChannelName.rule), .channel("online", rule: "is the name of a key"),
        .channel("beta", rule: "is given twice"), .unknownRole("gamma", known: ["root", "targets", "production"]),
        .holder(role: "production", "Alice", rule: "must be 1 to 32 of a-z 0-9"),
        .threshold(role: "production", wanted: 3, holders: 2), .bits(1_024),
    ]

    var isSampled: Bool {
        switch self {
        case .channel, .unknownRole, .holder, .threshold, .bits: true
        }
    }
}

extension CeremonyError: Sampled {
    private static let key = KeyID(Sample.digest)

    static let samples: [CeremonyError] = [
        .malformed(Sample.format), .moved(role: "root", base: 2, found: 3),
        .moved(role: "targets", base: nil, found: 1),
        .foreign(found: Sample.otherApp, expected: Sample.app), .version(role: "root", found: 5, expected: 4),
        .unexplained(role: "targets", field: "signed.custom"), .onlineKey,
        .threshold(role: .channel(Sample.channel), wanted: 3, keys: 2),
        .threshold(role: .channel(Sample.channel), wanted: 1, keys: 0), .retired(Sample.beta),
        .lastChannel(Sample.channel),
        .keyInTwoUses(key, "root", "production"), .testingKey(role: .root), .unusableKey(key, role: .targets),
        .shapedKey(Sample.digest, role: .online), .targetsStay, .unknownRole("gamma", known: ["root", "targets"]),
        .unknownKey("5e5e", role: "production"), .ambiguousKey("5e", role: "production"),
        .alreadyListed(key, role: .root), .nothingChanges, .otherContent,
        .expired(role: "root", expires: Sample.time),
        .incomplete(
            [.presentRoot, .nextRoot, .root, .channel(Sample.channel), .targets, .presentTargets].map {
                CeremonyError.Lack(rule: $0, valid: 0, needed: 1)
            }
        ), .pending,
    ]

    var isSampled: Bool {
        switch self {
        case .malformed, .moved, .foreign, .version, .unexplained, .onlineKey, .threshold, .keyInTwoUses, .testingKey,
            .unusableKey, .shapedKey, .targetsStay, .unknownRole, .unknownKey, .ambiguousKey, .alreadyListed,
            .nothingChanges, .otherContent, .expired, .incomplete, .pending, .retired, .lastChannel:
            true
        }
    }
}
