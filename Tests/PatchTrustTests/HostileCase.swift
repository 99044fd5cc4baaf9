import FoundationEssentials
import PatchFormat
import PatchCrypto
import PatchTesting
import PatchTrust
import Testing

/// One row of a `cases.json` below `Tests/Vectors/hostile`.
struct HostileCase: Sendable, CustomTestStringConvertible {
    static let folder = "hostile"

    /// A word that no reader knows: in `reads`, or for a step.
    struct UnknownWord: Error {
        let word: String
    }

    let area: String
    let name: String
    let fields: Fields

    var testDescription: String { "\(area)/\(name)" }

    static func all(in area: String) throws -> [HostileCase] {
        let file = "\(folder)/\(area)/cases.json"
        let document = try Fields(try JSON(parsing: try Vectors.bytes(file)), of: file)
        try document.constant("format", "patchline-hostile-v1")
        return try document.array("cases", limit: 1_000).map { row in
            let fields = try Fields(row, of: file)
            return HostileCase(area: area, name: try fields.string("case"), fields: fields)
        }
    }

    /// Every file that this case reads, below ``folder``.
    var files: [String] {
        get throws {
            let named = try ["document", "column", "role", "trusted"].compactMap { try fields.optionalString($0) }
            return try named + before.map(\.file)
        }
    }

    /// The hostile bytes themselves.
    var document: [UInt8] {
        get throws {
            let bytes = try read("document")
            guard fields.has("padTo") else { return bytes }
            let size = try fields.integer("padTo", in: bytes.count...1_000_000)
            return bytes + [UInt8](repeating: 0x20, count: size - bytes.count)
        }
    }

    var before: [(step: String, file: String)] {
        get throws {
            guard fields.has("before") else { return [] }
            return try fields.array("before", limit: 10).map { row in
                guard case .array(let pair) = row, pair.count == 2, case .string(let step) = pair[0],
                    case .string(let file) = pair[1]
                else { throw fields.broken("before", "must hold pairs of a step and a file") }
                return (step.text, file.text)
            }
        }
    }

    func read(_ member: String) throws -> [UInt8] {
        try Vectors.bytes("\(Self.folder)/\(fields.string(member))")
    }

    /// Why the document is refused; nil when it is accepted.
    func refusal() throws -> String? {
        do {
            switch try fields.string("reads") {
            case "metadata": try offerMetadata()
            case "patch-list": _ = try verifiedList()
            case "entry": return try refusedEntry()
            case "object": try checkObject()
            case "asset-manifest": _ = try AssetManifest(try document)
            case "bundle": try verifyBundle()
            case "dial": _ = try Dial(try document)
            case "release-header": _ = try ReleaseHeader(try document)
            case "public-key": _ = try PublicKey(pem: String(decoding: try document, as: UTF8.self))
            case let word: throw UnknownWord(word: word)
            }
            return nil
        } catch let error as TrustError {
            return error.description
        } catch let error as FormatError {
            return error.description
        } catch let error as KeyError {
            return error.description
        }
    }
}

// MARK: Roles

extension HostileCase {
    private func offerMetadata() throws {
        let time = try fields.time("time")
        let step = try fields.string("step")
        if step == "trusted-root" {
            _ = try StepByStep(try document, at: time)
            return
        }
        var metadata = try StepByStep(try read("trusted"), at: time)
        for (step, file) in try before {
            do {
                try offer(try Vectors.bytes("\(Self.folder)/\(file)"), as: step, to: &metadata)
            } catch let error as TrustError {
                // Not the hostile document's fault, so no refusal of it.
                throw UnknownWord(word: "\(file): \(error)")
            }
        }
        try offer(try document, as: step, to: &metadata)
        if let text = try fields.optionalString("target") {
            let target = try #require(TargetPath(text))
            _ = try metadata.target(target, of: step)
        }
        if fields.has("targets") {
            let count = try fields.integer("targets", in: 0...10)
            #expect(metadata.repository?.role(step)?.targets.count == count)
        }
    }

    private func offer(_ bytes: [UInt8], as step: String, to metadata: inout StepByStep) throws {
        switch step {
        case "root": try metadata.updateRoot(bytes)
        case "last-root":
            try metadata.updateRoot(bytes)
            try metadata.checkRootExpiry()
        case "timestamp":
            _ = try metadata.updateTimestamp(bytes)
            try metadata.checkTimestampExpiry()
        case "stored-snapshot": try metadata.updateSnapshot(bytes, stored: true)
        case "snapshot":
            try metadata.updateSnapshot(bytes)
            try metadata.checkSnapshotIsCurrent()
        case "targets": try metadata.updateTargets(bytes, role: "targets", delegator: "root")
        default: try metadata.updateTargets(bytes, role: step, delegator: try fields.string("delegator"))
        }
    }
}

// MARK: Lists, manifests and what they name

extension HostileCase {
    private func channelRole() throws -> TargetsRole {
        let bytes = try read("role")
        return try TargetsRole(try Envelope(bytes, role: "production", limit: 100_000), name: "production")
    }

    /// As if the channel's role named these bytes, or those of `file`.
    private func verifiedList() throws -> VerifiedList {
        let bytes = try document
        var file = TargetFile(of: bytes)
        if fields.has("file") {
            let named = try fields.fields("file").fingerprint()
            file = TargetFile(length: named.size, sha256: named.sha256)
        }
        return try VerifiedList(
            bytes,
            for: try fields.name("app"),
            channel: try fields.name("channel"),
            file: file,
            role: try channelRole()
        )
    }

    /// The fault of the one entry that is refused alone; the others stand.
    private func refusedEntry() throws -> String? {
        let list = try verifiedList()
        #expect(list.entries.map { "\($0.patchID) \($0.version)" } == (try fields.strings("stands", limit: 10)))
        #expect(list.refused.count <= 1)
        return list.refused.first?.fault.description
    }

    private func checkObject() throws {
        let named = try fields.fields("entry").fingerprint()
        guard let field = Fingerprint(of: try document).firstDifference(from: named) else { return }
        throw TrustError.entry(EntryFault(entry: "object", rule: .differs(field)))
    }

    private func verifyBundle() throws {
        let entry = try fields.fields("entry")
        let fingerprint = try entry.fingerprint()
        let (patchID, version): (PatchID, VersionLabel) = (try entry.name("patchId"), try entry.name("version"))
        _ = try VerifiedManifest(
            try document,
            column: try read("column"),
            of: PatchEntry(
                patchID: patchID,
                kind: .bundle,
                version: version,
                url: "",
                fingerprint: fingerprint,
                signature: EntrySignature(keyID: fingerprint.sha256, bytes: []),
                salt: [],
                rules: .everyone
            ),
            app: try fields.name("app"),
            keys: try channelRole().entryKeys
        )
    }
}
