import CommandKit
import PatchDelta
import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The result of `release` and `withdraw`.
struct ReleaseReport {
    let contents: ReleaseContents
    let difference: ReleaseDifference
    let signatures: SignatureCounts
    /// The excluded files by bundle.
    let leftOut: [PatchID: [String]]
    /// The recognised routing by bundle.
    let recognitions: [PatchID: BundleRecognition]
    let jspatch: SignatureCounts
    let quorum: VerifiedRelease.SignatureTally
    /// The keys that have signed, and those that may still sign.
    let signers: String
    /// Nil for a temporary folder, which is removed afterwards.
    var folder: FilePath?
    /// Versions of the previous release that a later one may list again.
    let mayReturn: [Label]
    /// The values that were derived for a folder without release.yaml.
    var derived: DerivedRelease?
    /// The costs of updates; nil if they were not computed.
    var updates: [UpdateStep]?
    /// The files of a bundle that are listed below its change.
    var named = NamedFiles.none

    enum NamedFiles {
        case none
        /// The first files of each bundle; `--verbose` lists all.
        case first, all
    }

    func write(json: Bool) {
        let console = Console.standardOutput
        guard !json else { return console.line(self.json.pretty()) }
        console.line(
            "release \(contents.roleVersion) of \(contents.app) \(contents.channel), until \(contents.expires)"
                + (folder.map { ": \(printable($0.string))" } ?? "")
        )
        let lines =
            named == .none ? difference.words : difference.words(showsAll: named == .all, option: "--verbose")
        for line in lines { console.line("  " + styled(line, on: console)) }
        for (id, paths) in leftOut.sorted(by: { $0.key < $1.key }) {
            console.line(Self.words(paths, leftOutOf: id))
        }
        for line in Self.words(recognitions) { console.line(line) }
        console.line(
            "entry signatures: \(Words.grouped(signatures.made)) made, \(Words.grouped(signatures.kept)) kept"
        )
        if jspatch != SignatureCounts() {
            console.line(Self.words(jspatch))
        }
        console.line(signers)
        if let updates, !updates.isEmpty {
            console.line("an update costs a device:")
            Table(of: updates).write(to: console)
        }
        if !quorum.isComplete { console.line("next: the other key holders run `patchsign release sign`") }
    }

    static func words(_ recognitions: [PatchID: BundleRecognition]) -> [String] {
        recognitions.sorted { $0.key < $1.key }.map { printable("\($0.key) \($0.value.words)") }
    }

    static func words(_ paths: [String], leftOutOf bundle: PatchID) -> String {
        let more = paths.count > 5 ? " and \(Words.grouped(paths.count - 5)) more" : ""
        return "left out of \(bundle): \(printable(paths.prefix(5).joined(separator: ", ")))\(more)"
    }

    static func words(_ jspatch: SignatureCounts) -> String {
        "JSPatch signatures: \(Words.grouped(jspatch.made)) made, \(Words.grouped(jspatch.kept)) kept"
    }

    /// Warns about listed versions that no device can newly install; printed last, where it is noticed.
    func warnOfUnmet() {
        guard !difference.unmet.isEmpty else { return }
        let console = Console.standardError
        for label in difference.unmet {
            let missing = contents.entry(label).map { contents.unmetRequirements(of: $0) } ?? []
            let names = missing.map(\.text).joined(separator: ", ")
            console.line(
                "warning: no further device can install \(label): it requires \(names) in a version that is not listed"
            )
        }
        console.line("hint: make a release in which they require listed versions, or withdraw them too")
    }

    private var routing: JSON? {
        guard !recognitions.isEmpty else { return nil }
        let sorted = recognitions.sorted { $0.key < $1.key }
        return .fields(sorted.map { ($0.key.text, .text($0.value.routing.rawValue)) })
    }

    var json: JSON {
        .fields([
            ("folder", folder.map { .text($0.string) } ?? .null), ("release", contents.json),
            ("difference", difference.json),
            ("signaturesMade", .integer(signatures.made)), ("signaturesKept", .integer(signatures.kept)),
            ("routing", routing), ("derived", derived?.json),
            (
                "leftOut",
                .fields(leftOut.sorted { $0.key < $1.key }.map { ($0.key.text, .array($0.value.map { .text($0) })) })
            ),
            ("jspatchSignaturesMade", .integer(jspatch.made)), ("jspatchSignaturesKept", .integer(jspatch.kept)),
            ("roleSignatures", quorum.json), ("updates", updates.map { .array($0.map(\.json)) }),
        ])
    }
}

extension VerifiedRelease.SignatureTally {
    /// `production: 1 of 2 signatures`.
    func words(role: String) -> String {
        "\(role): \(valid) of \(Words.count(needed, "signature"))"
    }

    var json: JSON {
        .fields([("valid", .integer(valid)), ("needed", .integer(needed)), ("complete", .bool(isComplete))])
    }
}

/// A line of a difference in the colour of its first character.
func styled(_ line: String, on console: Console) -> String {
    let text = printable(line)
    return switch line.first {
    case "+": console.styled(text, .green)
    case "-": console.styled(text, .red)
    case "~": console.styled(text, .yellow)
    case "!": console.styled(text, .bold, .red)
    case "=": console.styled(text, .dim)
    case nil, _?: text
    }
}

extension VerifiedRelease.Counts {
    /// The note for a signer about objects that are not available; nil if all are.
    var unavailableNote: String? {
        guard unseen > 0 else { return nil }
        return "\(Words.count(unseen, "object")) \(unseen == 1 ? "was" : "were") not looked at: they were left out; "
            + "their digests are signed by the entry key"
    }
}
