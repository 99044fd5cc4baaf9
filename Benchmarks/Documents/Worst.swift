import PatchFormat
import PatchChoice
import PatchCrypto
import PatchTrust

/// A document that costs its reader as much as its limit lets one, and how it is read.
struct Worst: Sendable {
    let name: String
    let limit: Int
    /// Made anew, always the same.
    let make: @Sendable () -> [UInt8]
    /// - Returns: what became of it, in a few words.
    let read: @Sendable ([UInt8]) -> String

    static let all: [Worst] = manifests + lists + roles + others + drafts + logs + keys

    private static let manifests = [
        manifest("manifest: 100,000 assets") { assets(99_999) { "assets/\($0)/file-\($0).js" } },
        manifest("manifest: 40 MB of paths and urls") { assets(33_000, longPath) },
        manifest("manifest: 32 folders around each asset") { assets(3_125) { folders($0, depth: 32) } },
        manifest("manifest: 510 folders around each asset") { assets(25_000) { folders($0, depth: 510) } },
        manifest("manifest: 3,000,000 platforms") { object("compatibility", 3_000_000) { #""p\#($0)":"1""# } },
        manifest("manifest: 1,000 routes of 1,024 bytes") {
            let route = "\"" + String(repeating: "/a", count: 512) + "\""
            return text(array("routes", 1_000) { _ in route }, ",", assets(0) { _ in "" })
        },
        manifest("manifest: 64 MB of empty arrays") { array("x", 21_000_000) { _ in "[]" } },
        manifest("manifest: a commit of 60 MB") {
            text(#""commit":""#, String(repeating: "x", count: 60_000_000), "\"")
        },
    ]

    private static let lists = [
        list("list: 10,000 entries") { many(10_000) { entry($0) } },
        list("list: one entry requires 180,000") { entry(0, text(object("requires", 180_000, required), ",")) },
        chain("list: 10,000 entries, each requires the next one, and the last what nobody has") {
            entry($0, needs: $0 + 1)
        },
        chain("list: the same from its end on") { entry($0, needs: $0 == 0 ? 10_000 : $0 - 1) },
        list("list: 1,300 entries require 100 each") {
            many(1_300) { row in
                entry(row, text(object("requires", 100) { required(row * 100 + $0) }, ","))
            }
        },
        list("list: 100,000 users of two entries") {
            many(2) { row in
                entry(row, rules: array("users", 100_000) { text("\"", hex($0), "\"") })
            }
        },
        list("list: 900,000 unknown rules") { entry(0, rules: many(900_000) { "\"r\($0)\":1" }) },
        list("list: 3,000 conditions of nothing but marks") {
            let condition = text(#""condition":""#, String(repeating: "||", count: 2_040), "\"")
            return many(3_000) { entry($0, rules: condition) }
        },
    ]

    private static let roles = [
        role("targets: 256 keys of its delegations") {
            text(#""targets":{},"delegations":{"#, object("keys", 256, keyRow), #","roles":[]}"#)
        },
        role("targets: 40,000 targets") {
            object("targets", 40_000) { #""production/\#($0)":{"length":1,"hashes":{"sha256":"\#(hex($0))"}}"# }
        },
        role("targets: 25,000 roles") {
            let roles = array("roles", 25_000) {
                #"{"name":"r\#($0)","keyids":["\#(hex(0))"],"threshold":1,"terminating":true,"paths":["r/*"]}"#
            }
            return text(#""targets":{},"delegations":{"keys":{},"#, roles, "}")
        },
        role("targets: 1,000 roles of 1,000 paths") {
            let paths = array("paths", 1_000) { _ in #""*""# }
            let roles = array("roles", 1_000) {
                text(#"{"name":"r\#($0)","keyids":[],"threshold":1,"terminating":true,"#, paths, "}")
            }
            return text(#""targets":{},"delegations":{"keys":{},"#, roles, "}")
        },
        role("targets: 1,000 keys that sign entries") {
            text(#""targets":{},"#, object("x-patchline-entry-keys", 1_000, keyRow))
        },
        Worst(name: "snapshot: 40,000 roles", limit: Limits.snapshot) {
            envelope(text(#""_type":"snapshot","#, object("meta", 40_000) { #""r\#($0).json":{"version":1}"# }))
        } read: { bytes in
            outcome { _ = try SnapshotRole(try Envelope(bytes, role: "snapshot", limit: Limits.snapshot)) }
        },
    ]

    private static let others = [
        Worst(name: "3,000 conditions, taken apart", limit: Limits.patchList) {
            Array(String(repeating: "||", count: 2_040).utf8)
        } read: { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return "\((0..<3_000).count { _ in (try? Condition(text)) == nil }) refused"
        },
        Worst(name: "dial: 7,500 rows, each asked for", limit: Limits.dial) {
            let rows = array("rows", 7_500) { #"{"patchId":"p\#($0)","sha256":"\#(hex($0))","rollout":1}"# }
            return Array(text(#"{"format":"\#(Dial.format)","app":"a","channel":"production","#, rows, "}").utf8)
        } read: { bytes in
            outcome {
                let dial = try Dial(bytes)
                for row in dial.rows { precondition(dial.row(row.patchID, row.sha256) != nil) }
            }
        },
        Worst(name: "parameters: 6,000 names", limit: Limits.parameters) {
            let names = object("parameters", 6_000) { "\"\($0)\":1" }
            let head = #"{"format":"\#(OnlineParameters.format)","app":"a","channel":"production","#
            return Array(text(head, names, "}").utf8)
        } read: { bytes in
            outcome { _ = try OnlineParameters(bytes) }
        },
        Worst(name: "any: 999,999 members", limit: Limits.patchList) {
            Array(text("{", many(999_999) { "\"\($0)\":0" }, "}").utf8)
        } read: { bytes in
            outcome {
                let object = try JSON.document(bytes, named: "x", limit: Limits.patchList)
                precondition(object["7"] == .integer(0))
            }
        },
        Worst(name: "any: 16 MB of one escape", limit: Limits.patchList) {
            Array(text("\"", String(repeating: "\\n", count: 7_999_000), "\"").utf8)
        } read: { bytes in
            outcome { _ = try JSON.document(bytes, named: "x", limit: Limits.patchList) }
        },
    ]
}

func text(_ parts: String...) -> String { parts.joined() }

func object(_ name: String, _ count: Int, _ member: (Int) -> String) -> String {
    text("\"\(name)\":{", many(count, member), "}")
}

func array(_ name: String, _ count: Int, _ element: (Int) -> String) -> String {
    text("\"\(name)\":[", many(count, element), "]")
}

func outcome(_ read: () throws -> Void) -> String {
    do {
        try read()
        return "read"
    } catch { return "refused" }
}

private func manifest(_ name: String, _ members: @escaping @Sendable () -> String) -> Worst {
    Worst(name: name, limit: Limits.manifest) {
        let head = #"{"format":"\#(AssetManifest.format)","app":"a","patchId":"web","version":"1","#
        let time = #""created":"2026-01-01T00:00:00Z","index":"index.html","#
        return Array(text(head, time, members(), "}").utf8)
    } read: { bytes in
        outcome { _ = try AssetManifest(bytes) }
    }
}

private func assets(_ count: Int, _ path: @escaping (Int) -> String) -> String {
    let paths = (0..<count).map(path).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return #""assets":["# + many(count + 1) { asset($0 < count ? paths[$0] : "index.html") } + "]"
}

private func longPath(_ row: Int) -> String {
    text(
        "a/\(100_000 + row)/",
        String(repeating: "X", count: 240),
        "/",
        String(repeating: "y", count: 500).prefix(240) + "/z"
    )
}

private func folders(_ row: Int, depth: Int) -> String {
    let first = "\(100_000 + row)"
    return (0..<depth).map { $0 == 0 ? "\(first)/" : "a/" }.joined() + "x"
}

private func asset(_ path: String) -> String {
    let zeros = String(repeating: "0", count: 64)
    return
        #"{"path":"\#(path)","url":"/\#(path)","type":"asset","cacheable":true,"size":1,"md5":"\#(zeros.prefix(32))","#
        + #""sha1":"\#(zeros.prefix(40))","sha256":"\#(zeros)"}"#
}

private func list(_ name: String, _ entries: @escaping @Sendable () -> String) -> Worst {
    Worst(name: name, limit: Limits.patchList) {
        let head = #"{"format":"\#(PatchList.format)","app":"a","channel":"production","serial":1,"#
        return Array(text(head, #""published":"2026-01-01T00:00:00Z","patches":["#, entries(), "]}").utf8)
    } read: { bytes in
        guard let parsed = try? ParsedPatchList(bytes) else { return "refused" }
        return parsed.problems.isEmpty ? "read" : "\(parsed.problems.count) entries refused"
    }
}

func entry(_ row: Int, _ members: String = "", rules: String = "") -> String {
    let sha256 = hex(row)
    let zeros = String(repeating: "0", count: 64)
    return #"{"patchId":"p\#(row)","kind":"script","version":"1","url":"objects/\#(sha256.prefix(2))/\#(sha256)","#
        + #""size":1,"md5":"\#(zeros.prefix(32))","sha1":"\#(zeros.prefix(40))","sha256":"\#(sha256)",\#(members)"#
        + #""signature":{"keyid":"\#(zeros)","scheme":"\#(Statement.scheme)","sig":"\#(Base64.text(Array(repeating: 0, count: 384)))"},"#
        + #""salt":"\#(zeros.prefix(32))","rules":{\#(rules)}}"#
}

private func entry(_ row: Int, needs other: Int) -> String {
    entry(row, text(object("requires", 1) { _ in required(other) }, ","))
}

/// With the choice that a device makes of it.
private func chain(_ name: String, _ row: @escaping @Sendable (Int) -> String) -> Worst {
    let document = list(name) { many(10_000, row) }
    return Worst(name: name, limit: document.limit, make: document.make) { bytes in
        guard let list = try? ParsedPatchList(bytes).list, let time = UTCTime("2026-01-01T00:00:00Z") else {
            return "refused"
        }
        let context = EligibilityContext(device: DeviceFacts(deviceID: [], time: time))
        let candidates = list.entries.map { Candidates($0.patchID, versions: [$0], current: nil, under: context) }
        let choice = JointChoice(candidates, under: context)
        return "\(choice.decisions.count { $0.choice != .none }) taken"
    }
}

func required(_ row: Int) -> String { #""p\#(row)":["\#(hex(row))"]"# }

private func role(_ name: String, _ members: @escaping @Sendable () -> String) -> Worst {
    Worst(name: name, limit: Limits.targetsRole) {
        envelope(text(#""_type":"targets","#, members()))
    } read: { bytes in
        outcome {
            _ = try TargetsRole(try Envelope(bytes, role: "targets", limit: Limits.targetsRole), name: "targets")
        }
    }
}

func envelope(_ members: String) -> [UInt8] {
    let head = #"{"signatures":[],"signed":{"spec_version":"1.0.34","version":1,"expires":"2030-01-01T00:00:00Z","#
    return Array((head + members + "}}").utf8)
}

/// One key in so many objects with ids of their own: each is opened.
///
/// On P-256, which costs most for its bytes.
func keyRow(_ row: Int) -> String {
    let json = JSON.fields([
        ("keytype", .text("ecdsa")), ("scheme", .text("ecdsa-sha2-nistp256")),
        ("keyval", .fields([("public", .text(publicKey))])), ("x", .integer(row)),
    ])
    return "\"\(TUFKey(json).id.hex)\":\(String(decoding: json.fileBytes, as: UTF8.self))"
}

private let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3Dsh2jU47APSoinaSyjzNrcAVHwM
    SzPl/Z22jdRbQf3hlT8beSXXcH9J5PS3uHfmM8/RsakbQIUk9U5GPE2mhw==
    -----END PUBLIC KEY-----

    """

func many(_ count: Int, _ row: (Int) -> String) -> String {
    var text = ""
    for number in 0..<count {
        if number > 0 { text += "," }
        text += row(number)
    }
    return text
}

func hex(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.utf8.count) + digits
}
