import Dispatch
import Glibc
import CommandKit
import Testing

@Suite("A process that was told to stop")
struct StopDeadlineTests {
    @Test func `ends in time while every thread is busy and a lock is held for ever`() async {
        let result = await #expect(processExitsWith: .exitCode(143), observing: [\.standardErrorContent]) {
            let deadline = StopDeadline([SIGTERM], allowing: .milliseconds(50)) { "still at work" }
            await withDiscardingTaskGroup { group in
                for _ in 0..<64 { group.addTask { while getppid() != 0 {} } }
                kill(getpid(), SIGTERM)
            }
            deadline.lift()
        }
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.hasSuffix("still at work\n"))
    }

    @Test func `ends in time when nobody reads what it says`() async {
        await #expect(processExitsWith: .exitCode(143)) {
            let full = Pipe()
            _ = fcntl(full.write, F_SETFL, O_NONBLOCK)
            let bytes = [UInt8](repeating: 0x20, count: 4_096)
            while unsafe write(full.write, bytes, bytes.count) > 0 {}
            _ = fcntl(full.write, F_SETFL, 0)
            dup2(full.write, STDERR_FILENO)
            let deadline = StopDeadline([SIGTERM], allowing: .milliseconds(50)) { "nobody reads this" }
            kill(getpid(), SIGTERM)
            while getppid() != 0 {}
            deadline.lift()
        }
    }

    @Test func `goes on for as long as it likes once the deadline is lifted`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            signal(SIGTERM, SIG_IGN)
            let deadline = StopDeadline([SIGTERM], allowing: .zero) { "too late" }
            deadline.lift()
            kill(getpid(), SIGTERM)
            _exit(7)
        }
    }
}
