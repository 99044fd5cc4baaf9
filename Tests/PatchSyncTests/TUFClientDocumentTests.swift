import DeviceTesting
import PatchFetch
import PatchFormat
import PatchStore
import PatchTesting
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync

/// Documents and answers that theupdateframework/tuf-conformance does not try.
@Suite("A TUF client and odd documents")
struct TUFClientDocumentTests {
    private static let roles = ["root", "timestamp", "snapshot", "targets", "delegated"]
    /// What is known when a role of version 2 is refused.
    private static let before = [
        "root": "root 1", "timestamp": "root 2", "snapshot": "root 2, timestamp 2",
        "targets": "root 2, snapshot 2, timestamp 2", "delegated": "root 2, snapshot 2, targets 2, timestamp 2",
    ]

    /// Version 2 of everything waits to be taken.
    private static func world(_ edit: (inout SimulatedTUF) -> Void = { _ in }) throws -> TUFWorld {
        let world = try TUFWorld { repository in
            repository.delegate(.init("delegated"))
            repository.addTarget("file", "content", to: "delegated")
            repository.publish("delegated")
        }
        world.server.edit { repository in
            edit(&repository)
            repository.publish("delegated", "root", "targets", "snapshot", "timestamp")
        }
        return world
    }

    private static func path(_ role: String) -> String {
        "metadata/\(role == "timestamp" ? "" : "2.")\(role).json"
    }

    /// The strict parser stands before every role.
    @Test(
        arguments: roles,
        [
            ("\"version\":2", "\"version\":2,\"version\":2", JSONError.Rule.duplicateKey),
            ("\"version\":2", "\"version\":2.0", .float), ("\"version\":2", "\"version\":2e0", .float),
            ("\"version\":2", "\"version\":2,\"x\":0.5", .float),
            ("\"version\":2", "\"version\":2,\"x\":{\"a\":1,\"\\u0061\":1}", .duplicateKey),
            ("\"signed\":", "\"signed\":{},\"signed\":", .duplicateKey),
            ("\"version\":2", "\"version\":2,\"x\":\"\\ud800\"", .loneSurrogate),
            ("\"version\":2", "\"version\":02", .syntax),
            ("\"version\":2", "\"version\":2,\"x\":9007199254740992", .integerRange),
            ("\"version\":2", "\"version\":2,\"x\":" + String(repeating: "[", count: 64), .depth),
        ]
    )
    func `a role that two readers could read in two ways is refused`(
        role: String,
        edit: (old: String, new: String, rule: JSONError.Rule)
    ) async throws {
        let world = try Self.world()
        let before = world[Self.path(role)]
        // Of a snapshot, the version in its header, which stands last.
        world.server.edit { repository in
            let text = String(decoding: before, as: UTF8.self)
            let parts = text.split(separator: edit.old, omittingEmptySubsequences: false)
            let head = parts.dropLast().joined(separator: edit.old)
            repository.files[Self.path(role)] = Array("\(head)\(edit.new)\(parts.last ?? "")".utf8)
        }
        let error = await TUFWorld.error { () throws(SyncError) in
            try await world.client().download(["file"], to: TUFWorld.downloads)
        }
        guard case .trust(.malformed(let format)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(format.document == role && format.description.contains(edit.rule.rawValue))
        #expect(try world.stored() == Self.before[role])
    }

    @Test(
        arguments: roles,
        [
            ("1.0.0", true), ("1.1", true), ("1.0", true), ("1.0.34.1", true), ("2.0.0", false), ("1", false),
            ("1.", false),
        ]
            + [("0.9", false), ("1.x", false), ("1.0.0-rc", false), ("10.0", false), ("", false), ("\u{661}.0", false)]
    )
    func `a spec version is 1 and numbers`(role: String, spec: (text: String, isTaken: Bool)) async throws {
        let world = try Self.world { $0[role].members = [("spec_version", .text(spec.text))] }
        let error = TrustError.malformed(FormatError(role, field: "spec_version", rule: "must be 1.x.y"))
        try await world.download(
            "file",
            failing: spec.isTaken ? nil : .trust(error),
            leaves: spec.isTaken ? ["file": "content"] : [:]
        )
        let all = "delegated 2, root 2, snapshot 2, targets 2, timestamp 2"
        #expect(try world.stored() == (spec.isTaken ? all : Self.before[role]))
    }

    @Test(arguments: roles)
    func `fields that nobody knows are signed, and kept byte for byte`(role: String) async throws {
        let unknown = JSON.fields([
            ("caf\u{E9}", .text("\u{1F600} \" \\ \n \u{7F} / caf\u{E9}")),
            ("cafe\u{301}", .array([.null, .bool(false)])),
            ("", .object(JSONObject())), ("n", .integer(-(1 << 53 - 1))),
        ])
        let world = try Self.world { $0[role].members = [("x-unknown", unknown)] }
        try await world.download("file", leaves: ["file": "content"])
        #expect(try world.stored() == "delegated 2, root 2, snapshot 2, targets 2, timestamp 2")
        let path = Self.path(role)
        #expect(try world.disk.read(TUFWorld.folder.appending("\(role).json"), limit: 100_000) == world[path])
        // Signed: one of them changed is another document.
        let changed = try Self.world { $0[role].members = [("x-unknown", unknown)] }
        changed.server.edit { $0.replace("\u{1F600}", with: "\u{1F601}", in: path) }
        let valid = TrustError.threshold(role: role, valid: 0, needed: 1)
        try await changed.download("file", failing: .trust(valid), leaves: [:])
    }

    @Test func `a file in another spelling is the same document, and is stored as it came`() async throws {
        let world = try TUFWorld()
        let path = "metadata/timestamp.json"
        world.server.edit { $0.replace("\"_type\"", with: " \n\t\"\\u005ftype\" ", in: path) }
        try await world.client().refresh()
        #expect(try world.disk.read("/metadata/timestamp.json", limit: 100_000) == world[path])
    }

    // MARK: Answers to the question for the next root

    @Test(arguments: [
        (SimulatedRepository.Fault.status(500), FetchError.status("metadata/2.root.json", code: 500)),
        (.status(503), .status("metadata/2.root.json", code: 503)),
        (.status(301), .status("metadata/2.root.json", code: 301)),
        (.timesOut, .timedOut("metadata/2.root.json")), (.breaksOff(after: 0), .short("metadata/2.root.json")),
        (.connection, .connection("metadata/2.root.json", reason: "unplugged")),
    ])
    func `only 404 and 403 end the chain of roots; any other failure is one`(
        fault: SimulatedRepository.Fault,
        error: FetchError
    ) async throws {
        let world = try TUFWorld()
        world.server.fail("metadata/2.root.json", with: fault)
        try await world.refresh(failing: .fetch(error), requests: "2.root", leaves: "root 1")
        // A 403 is the same to a fetcher: it says `notFound`.
        world.server.fail("metadata/2.root.json", with: .notFound)
        try await world.refresh(
            requests: "2.root timestamp 1.snapshot 1.targets",
            leaves: "root 1, snapshot 1, targets 1, timestamp 1"
        )
    }

    @Test func `an answer that is empty or no JSON is not the end of the chain either`() async throws {
        let world = try TUFWorld()
        for bytes in ["", "<html>", "null", "[]", "{}"] {
            world.server.fail("metadata/2.root.json", with: .replaced(Array(bytes.utf8)))
            let error = await TUFWorld.error { () throws(SyncError) in try await world.client().refresh() }
            guard case .trust(.malformed(let format)) = error, format.document == "root" else {
                Issue.record("\(bytes): \(String(describing: error))")
                return
            }
            #expect(world.requests() == "2.root")
        }
        #expect(try world.stored() == "root 1")
    }
}
