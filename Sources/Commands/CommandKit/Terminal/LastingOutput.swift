import Synchronization
import Dispatch
import Glibc

/// The output of a program that runs for days.
///
/// A failed write neither ends the program nor makes it wait.
///
/// Lines are lost on a full disk, a pipe without a reader, a broken disk, or a closed descriptor. They are counted, and the count
/// is written once the stream accepts lines again: "3 lines were lost". With a slow reader, no line is lost while at most ``room``
/// bytes wait.
package final class LastingOutput: Sendable {
    /// The most bytes that wait for a slow reader: the capacity of a pipe.
    package static let room = 65_536

    private struct State {
        var backlog = LineBacklog(room: LastingOutput.room)
        /// The descriptor, negative while the output is not open.
        var descriptor: Int32 = -1
        /// The reason why the output is not open.
        var fault: SystemError?
        var isRetrying = false
        /// Whether the descriptor is closed.
        ///
        /// It then stays closed.
        var isClosed = false
    }

    private let state: Mutex<State>
    private let notice: @Sendable (Int) -> String
    private let opening: @Sendable () throws(SystemError) -> Int32
    private let queue = DispatchQueue(label: "patchline.output")

    private static let firstPause = 0.1
    private static let longestPause = 60.0

    /// - Parameters:
    ///   - notice: The line with the count of lost lines.
    ///   - open: Returns a descriptor that is this output's own. It is called again while it fails.
    package init(
        notice: @escaping @Sendable (Int) -> String = LastingOutput.words,
        open: @escaping @Sendable () throws(SystemError) -> Int32
    ) {
        (self.notice, opening) = (notice, open)
        var first = State()
        do throws(SystemError) { first.descriptor = try open() } catch { first.fault = error }
        state = Mutex(first)
    }

    /// The reason why the output could not be opened, or nil if it is open.
    package var fault: SystemError? { state.withLock { $0.fault } }

    /// An output to a stream that the process was started with.
    ///
    /// Other processes may share a pipe and expect it to block, so the output uses a non-blocking description of its own if the
    /// system provides one.
    convenience init(stream: Int32, notice: @escaping @Sendable (Int) -> String) {
        self.init(notice: notice) {
            guard kind(of: stream) == S_IFIFO,
                let own = try? openFile("/proc/self/fd/\(stream)", O_WRONLY | O_NONBLOCK)
            else { return stream }
            return own
        }
    }

    @Sendable package static func words(_ count: Int) -> String {
        count == 1 ? "1 line was lost" : "\(count) lines were lost"
    }

    /// Writes text and a line feed, and returns at once.
    package func line(_ text: String) { write(Array((text + "\n").utf8)) }

    func write(_ lines: [UInt8]) {
        let isStuck = state.withLock { state in
            flush(&state)
            state.backlog.add(lines)
            flush(&state)
            guard !state.backlog.isEmpty, !state.isClosed, !state.isRetrying else { return false }
            state.isRetrying = true
            return true
        }
        if isStuck { retry(after: Self.firstPause) }
    }

    /// Continues in a new file, or in the old one if the new file cannot be opened.
    package func reopen() throws(SystemError) {
        let new = try opening()
        state.withLock { state in
            if state.descriptor >= 0 { close(state.descriptor) }
            (state.descriptor, state.fault) = (new, nil)
            flush(&state)
        }
    }

    /// Writes the waiting lines while the stream accepts them, at the end of a process.
    ///
    /// - Parameter tries: The number of tries, a tenth of a second apart.
    func finish(tries: Int) {
        for _ in 0..<tries {
            let isDone = state.withLock { state in
                flush(&state)
                return state.backlog.waiting.isEmpty
            }
            if isDone { return }
            usleep(100_000)
        }
    }

    /// Writes the count without waiting for the next line, which may be hours later.
    private func retry(after pause: Double) {
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self else { return }
            let isStuck = state.withLock { state in
                flush(&state)
                state.isRetrying = !state.backlog.isEmpty && !state.isClosed
                return state.isRetrying
            }
            if isStuck { retry(after: min(2 * pause, Self.longestPause)) }
        }
    }

    private func flush(_ state: inout State) {
        guard !state.backlog.isEmpty else { return }
        if state.descriptor < 0 {
            do throws(SystemError) {
                state.descriptor = try opening()
                state.fault = nil
            } catch {
                state.fault = error
                return state.backlog.failed()
            }
        }
        while !state.backlog.isEmpty {
            let next = state.backlog.isNoticeDue ? Array("\(notice(state.backlog.lost))\n".utf8) : state.backlog.waiting
            let (count, fault) = writeSome(next, to: state.descriptor)
            if state.backlog.isNoticeDue {
                state.backlog.wrote(count, ofNotice: next)
            } else {
                state.backlog.wrote(count)
            }
            state.isClosed = fault == EBADF
            switch fault {
            case nil: continue
            case EAGAIN: return
            case _?: return state.backlog.failed()
            }
        }
    }
}

/// The outputs of a program that serves, by descriptor.
private let lasting = Mutex<[Int32: LastingOutput]>([:])

extension Console {
    /// From now on, a full disk or a closed pipe does not end this process, and no line makes it wait.
    ///
    /// - Parameters:
    ///   - output: The line with the count of lost lines, on standard output.
    ///   - errors: The same line, on standard error.
    package static func outlastStreams(
        output: @escaping @Sendable (Int) -> String = LastingOutput.words,
        errors: @escaping @Sendable (Int) -> String = LastingOutput.words
    ) {
        _ = signal(SIGPIPE, SIG_IGN)
        lasting.withLock {
            $0 = [
                STDOUT_FILENO: LastingOutput(stream: STDOUT_FILENO, notice: output),
                STDERR_FILENO: LastingOutput(stream: STDERR_FILENO, notice: errors),
            ]
        }
        atexit { for output in lasting.withLock({ Array($0.values) }) { output.finish(tries: 10) } }
    }

    /// The lasting output, or nil in a command that ends if its output cannot be written.
    var lastingOutput: LastingOutput? { lasting.withLock { $0[descriptor] } }

    /// Occupies the standard streams that the process was started without.
    ///
    /// Otherwise the next opened file would receive the number of such a stream, and output would be written into it. Writing still
    /// fails, as it does on a closed stream, because the replacement is open in the other direction.
    package static func occupyClosedStreams() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
