import Linux
import PatchFormat
import PatchStore
import PatchTesting
import SystemPackage
import Testing

@Suite("The condition of an object")
struct ObjectConditionTests {
    private let disk = FaultyFiles()
    private let store: ObjectStore
    private let sample = Sample.small
    private var records = VerifiedRecords()

    init() throws {
        store = ObjectStore(root: "/app/objects", incoming: "/app/part", files: disk)
        try store.prepare()
        records[sample.digest] = try store.put(sample.bytes, as: sample.fingerprint)
    }

    private func condition(_ records: VerifiedRecords = VerifiedRecords()) throws -> ObjectCondition {
        try store.condition(of: sample.digest, expected: sample.fingerprint, records: records)
    }

    private func identity() throws -> FileIdentity {
        try #require(try disk.identity(of: store.path(of: sample.digest)))
    }

    @Test func `is missing where nothing stands`() throws {
        try store.remove(sample.digest)
        #expect(try condition(records) == .missing)
    }

    @Test func `is intact after hashing, with what to record`() throws {
        #expect(try condition() == .intact(try identity()))
        #expect(try store.condition(of: sample.digest, records: VerifiedRecords()) == .intact(try identity()))
    }

    @Test func `is intact without hashing while the file is the recorded one`() throws {
        // A failing medium shows that nothing was read.
        try disk.rot(store.path(of: sample.digest))
        #expect(try condition(records) == .intact(try identity()))
        #expect(try condition() == .damaged(field: "md5"))
    }

    @Test func `is hashed again once the file was written, even back to what it was`() throws {
        try disk.overwrite(store.path(of: sample.digest), with: Array("Patchline".utf8))
        #expect(try condition(records) == .damaged(field: "md5"))
        #expect(try store.condition(of: sample.digest, records: records) == .damaged(field: "sha256"))
        try disk.overwrite(store.path(of: sample.digest), with: sample.bytes)
        #expect(try condition(records) == .intact(try identity()))
    }

    @Test func `is damaged by another size without hashing`() throws {
        try disk.overwrite(store.path(of: sample.digest), with: [])
        #expect(try condition(records) == .damaged(field: "size"))
    }

    @Test func `is damaged where no regular file stands`() throws {
        try disk.write(sample.bytes, to: "/app/elsewhere")
        try store.remove(sample.digest)
        try disk.makeSymbolicLink(store.path(of: sample.digest), to: "/app/elsewhere")
        #expect(try condition(records) == .damaged(field: "kind"))
    }

    @Test func `needs hashing after a link was made, unless the record was carried over it`() throws {
        var carried = records
        let digest = sample.digest
        try store.carrying(&carried, of: [digest]) { () throws(FileError) in
            try store.link(digest, to: "/app/a.js")
        }
        try disk.rot(store.path(of: sample.digest))
        #expect(try condition(carried) == .intact(try identity()))
        #expect(try condition(records) == .damaged(field: "md5"))

        try store.carrying(&carried, of: [digest]) { () throws(FileError) in try disk.removeTree("/app/a.js") }
        #expect(try condition(carried) == .intact(try identity()))
    }

    @Test(arguments: ["before", "during"])
    func `is not carried over a write`(_ time: String) throws {
        var carried = records
        let write = { () throws(FileError) in
            try disk.overwrite(store.path(of: sample.digest), with: Array("Patchline".utf8))
        }
        if time == "before" { try write() }
        try store.carrying(&carried, of: [sample.digest]) { () throws(FileError) in
            if time == "during" { try write() }
            try store.link(sample.digest, to: "/app/a.js")
        }
        #expect(carried == records)
        #expect(try condition(carried) == .damaged(field: "md5"))
    }

    @Test func `is not carried when the record was stale before, though the content may be the same`() throws {
        try store.link(sample.digest, to: "/app/a.js")
        var carried = records
        try store.carrying(&carried, of: [sample.digest]) { () throws(FileError) in
            try store.link(sample.digest, to: "/app/b.js")
        }
        #expect(carried == records)
    }

    @Test func `is carried for recorded objects only`() throws {
        var none = VerifiedRecords()
        try store.carrying(&none, of: [sample.digest, Sample.other.digest]) { () throws(FileError) in
            try store.link(sample.digest, to: "/app/a.js")
        }
        #expect(none == VerifiedRecords())
    }
}
