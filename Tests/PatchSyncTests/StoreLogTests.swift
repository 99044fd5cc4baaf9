import PatchFormat
import PatchStore
import PatchSync
import SystemPackage
import Testing

@Suite("The log of a store")
struct StoreLogTests {
    private func inStore(_ body: (StoreLog, FilePath) throws -> Void) throws {
        let root = FilePath("/tmp/store-log-\(UInt64.random(in: 0...UInt64.max))")
        try DiskFiles().makeDirectory(root)
        defer { try? DiskFiles().removeTree(root) }
        try body(StoreLog(root), root)
    }

    private func line(_ number: Int, _ size: Int = 0) -> JSON {
        .fields([("at", .integer(number)), ("text", .text(String(repeating: "t", count: size)))])
    }

    @Test func `keeps two files of a bounded size, and in them what came last`() throws {
        try inStore { log, root in
            #expect(log.lines().isEmpty)
            for number in 1...1_000 { log.append([line(number, 1_000)]) }
            let numbers = log.lines().compactMap { if case .integer(let number)? = $0["at"] { number } else { nil } }
            #expect(numbers.last == 1_000 && numbers == Array((numbers.first ?? 0)...1_000))
            #expect((250...600).contains(numbers.count), "\(numbers.count)")
            let names = try DiskFiles().list(root)
            #expect(names == ["events.lock", "events.log", "events.previous.log"])
            for name in ["events.log", "events.previous.log"] {
                _ = try DiskFiles().read(root.appending(name), limit: StoreLog.limit)
                let status = try DiskFiles().status(of: root.appending(name))
                #expect(status?.permissions == .privateFile)
            }
        }
    }

    @Test func `passes over a line that a crash tore, and loses no other`() throws {
        try inStore { log, root in
            log.append([line(1)])
            let writer = try DiskFiles().append(to: root.appending("events.log"))
            try writer.append(Array(#"{"at":2,"te"#.utf8))
            try writer.close()
            #expect(log.lines() == [line(1)])
            log.append([line(3), line(4)])
            #expect(log.lines() == [line(1), line(3), line(4)])
        }
    }

    @Test func `is in nobody's way where nothing can be written`() {
        let log = StoreLog("/proc/nowhere")
        log.append([line(1)])
        #expect(log.lines().isEmpty)
    }
}
