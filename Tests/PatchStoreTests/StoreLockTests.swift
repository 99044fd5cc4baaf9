import Foundation
import PatchStore
import SystemPackage
import Testing

@Suite("The lock of a store", .serialized)
struct StoreLockTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestDisk.real.open()
    }

    private var path: FilePath { folder("lock") }

    private func refusal(_ path: FilePath) -> StoreLockError? {
        do throws(StoreLockError) {
            _ = try StoreLock(path)
            return nil
        } catch {
            return error
        }
    }

    @Test func `has one owner at a time, also within a process`() throws {
        let here = Int(ProcessInfo.processInfo.processIdentifier)
        do {
            let lock = try StoreLock(path)
            // Asked twice: a refused owner must not wipe out what the holder wrote.
            #expect(refusal(path) == .held(path, by: here))
            #expect(refusal(path) == .held(path, by: here))
            withExtendedLifetime(lock) {}
        }
        #expect(refusal(path) == nil)
        #expect(try folder.files.read(path, limit: 32) == [])
    }

    @Test func `is shared by several, and nobody's alone meanwhile`() throws {
        do {
            let first = try StoreLock(sharing: path)
            let second = try StoreLock(sharing: path)
            #expect(refusal(path) == .held(path, by: Int(ProcessInfo.processInfo.processIdentifier)))
            withExtendedLifetime(first) {}
            withExtendedLifetime(second) {}
        }
        let alone = try StoreLock(path)
        do throws(StoreLockError) {
            _ = try StoreLock(sharing: path)
            Issue.record("shared what somebody has alone")
        } catch {
            #expect(error == .held(path, by: Int(ProcessInfo.processInfo.processIdentifier)))
        }
        withExtendedLifetime(alone) {}
    }

    @Test func `is free when its owner lets go, though a child that was just forked has the file open still`() throws {
        let inherited: FileDescriptor
        do {
            let lock = try StoreLock(path)
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path.string
            }
            try #require(descriptors.count == 1)
            // As fork(2) does it: one open file under a second descriptor.
            inherited = try FileDescriptor(rawValue: try #require(Int32(descriptors[0]))).duplicate()
            withExtendedLifetime(lock) {}
        }
        #expect(refusal(path) == nil)
        try inherited.close()
    }

    @Test func `names the process that holds it, and is free when that process is killed`() throws {
        let holder = try Holder(of: path)
        #expect(refusal(path) == .held(path, by: holder.pid))
        #expect("\(StoreLockError.held(path, by: holder.pid))" == "\(path) is held by process \(holder.pid)")
        holder.kill()
        #expect(refusal(path) == nil)
    }

    @Test func `is waited for until its holder lets go`() async throws {
        let holder = try Holder(of: path)
        let clock = StepClock { if $0 == 3 { holder.kill() } }
        let lock = try await StoreLock(path, waitingUpTo: .seconds(10), clock: clock)
        #expect(clock.sleeps == 3)
        withExtendedLifetime(lock) {}
    }

    @Test func `is waited for no longer than the deadline`() async throws {
        let holder = try Holder(of: path)
        let clock = StepClock { _ in }
        do throws(StoreLockError) {
            _ = try await StoreLock(path, waitingUpTo: .milliseconds(120), clock: clock)
            Issue.record("locked twice")
        } catch {
            #expect(error == .held(path, by: holder.pid))
        }
        #expect(clock.sleeps == 3)
        #expect(clock.now.offset == .milliseconds(120))
        holder.kill()
    }

    @Test func `is no longer waited for once the task is cancelled`() async throws {
        let holder = try Holder(of: path)
        let clock = StepClock { if $0 == 2 { throw CancellationError() } }
        do throws(StoreLockError) {
            _ = try await StoreLock(path, waitingUpTo: .seconds(10), clock: clock)
            Issue.record("locked twice")
        } catch {
            #expect(error == .held(path, by: holder.pid))
        }
        #expect(clock.sleeps == 2)
        holder.kill()
    }

    @Test func `is a regular file in a directory that is there`() throws {
        try folder.files.makeDirectory(folder("directory"))
        try folder.makeSymbolicLink("link", to: folder("target"))
        #expect(refusal(folder("no/lock")) == .file(.notFound(.lock, folder("no/lock"))))
        #expect(refusal(folder("directory")) == .file(.notRegular(.lock, folder("directory"))))
        #expect(refusal(folder("link")) == .file(.notRegular(.lock, folder("link"))))
        #expect(try folder.files.status(of: folder("target")) == nil)
    }
}

/// Another process that holds a lock, through flock(1).
private final class Holder: @unchecked Sendable {  // Only ever used by one test at a time.
    private let process = Process()
    var pid: Int { Int(process.processIdentifier) }

    init(of path: FilePath) throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        let script = #"exec 9<>"$1"; flock -n 9 && echo $$ >"$1" && echo held && exec cat"#
        process.arguments = ["-c", script, "sh", path.string]
        process.standardInput = Pipe()
        process.standardOutput = output
        try process.run()
        try #require(try output.fileHandleForReading.read(upToCount: 5) == Data("held\n".utf8))
    }

    func kill() {
        process.terminate()
        process.waitUntilExit()
    }

    deinit {
        if process.isRunning { kill() }
    }
}
