import Glibc
import Synchronization
import Testing

@testable import CommandKit

@Suite("The output of a program that serves")
struct LastingOutputTests {
    /// What can be read of a pipe now.
    private static func text(_ end: Int32) -> String {
        var bytes: [UInt8] = []
        while let more = try? readSome(65_536, from: end), !more.isEmpty { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `waits for no reader, keeps what the pipe and its room hold, and tells what was lost in its place`()
        async throws
    {
        let ends = try openPipe()
        defer { close(ends.read) }
        let output = LastingOutput { ends.write }
        let line = String(repeating: "x", count: 1_023)
        for _ in 0..<400 { output.line(line) }
        output.line("the last before anybody reads")
        var read = ""
        // The count comes by itself, without another line.
        while !read.contains("lost") {
            read += Self.text(ends.read)
            await Task.yield()
        }
        output.line("again")
        output.finish(tries: 1)
        read += Self.text(ends.read)
        let lines = read.split(separator: "\n")
        let kept = lines.count { $0 == line }
        #expect(kept >= 64 && kept < 400)
        #expect(lines.suffix(2) == ["\(401 - kept) lines were lost", "again"])
    }

    @Test func `goes on where the disk is full, and tells how many lines were lost in a file that has room`() throws {
        let full = try openFile("/dev/full", O_WRONLY)
        let ends = try openPipe()
        defer { close(ends.read) }
        let files = Mutex([full, ends.write])
        let output = LastingOutput { files.withLock { $0.removeFirst() } }
        for number in 1...3 { output.line("\(number)") }
        try output.reopen()
        output.line("4")
        #expect(Self.text(ends.read) == "3 lines were lost\n4\n")
    }

    @Test func `goes on where its reader has gone, and where it was never open`() throws {
        let ends = try openPipe()
        close(ends.read)
        signal(SIGPIPE, SIG_IGN)
        let broken = LastingOutput { ends.write }
        broken.line("nobody reads this")
        let closed = LastingOutput { 1_000_000 }
        closed.line("nor this")
        broken.finish(tries: 1)
        closed.finish(tries: 1)
    }

    @Test func `opens a file that could not be opened with the next line, and tells what was lost until then`() throws {
        let ends = try openPipe()
        defer { close(ends.read) }
        let tries = Mutex(0)
        let output = LastingOutput { () throws(SystemError) in
            let isLast = tries.withLock { count in
                count += 1
                return count > 3
            }
            guard isLast else { throw SystemError(ENOENT) }
            return ends.write
        }
        #expect(output.fault == SystemError(ENOENT))
        output.line("1")
        output.line("2")
        #expect(output.fault == nil)
        output.line("3")
        #expect(Self.text(ends.read).hasSuffix("3\n"))
    }

    @Test(arguments: [(1, "1 line was lost"), (3, "3 lines were lost")])
    func `names the count`(count: Int, text: String) {
        #expect(LastingOutput.words(count) == text)
    }
}
