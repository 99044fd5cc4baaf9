import Glibc
import Synchronization

// Turns a terminal's echo off, and on again in every case: signals that end or stop the process become input while a prompt waits.
// The prompt and the signal may be on different threads, so the handler only writes the signal's number into a pipe, which the
// prompt watches in addition to the terminal.

/// The input or signal that ended a prompt's wait.
enum PromptInput: Equatable {
    case line([UInt8])
    case end
    /// One of `caughtSignals`, without an effect on the process so far.
    case signal(Int32)
}

/// A terminal with a waiting prompt, and the pipe that delivers signals.
struct PromptTerminal: ~Copyable {
    let terminal: Int32
    let signals: Int32

    /// Waits for a line and returns it without its line feed.
    ///
    /// Of a longer line, only the first `limit` bytes are kept.
    borrowing func line(limit: Int) throws(SystemError) -> PromptInput {
        var line: [UInt8] = []
        while true {
            var waiting = [
                pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
                pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
            ]
            guard unsafe poll(&waiting, 2, -1) >= 0 else {
                if errno == EINTR { continue }
                throw SystemError(errno)
            }
            if waiting[0].revents != 0, let number = try readSome(1, from: signals).first {
                return .signal(Int32(number))
            }
            guard waiting[1].revents != 0 else { continue }
            let more: [UInt8]
            do throws(SystemError) {
                more = try readSome(512, from: terminal)
            } catch {
                if error.code == EIO { return .end }  // the terminal hung up
                throw error
            }
            // In canonical mode a read ends at a line feed or at Ctrl-D.
            if more.isEmpty { return .end }
            line += more.prefix { $0 != UInt8(ascii: "\n") }.prefix(limit - line.count)
            if more.contains(UInt8(ascii: "\n")) { return .line(line) }
        }
    }
}

/// Turns echo off, runs `body`, and restores everything before it returns.
func withEchoOff(
    _ terminal: Int32,
    _ body: (borrowing PromptTerminal) throws(SystemError) -> PromptInput
) throws(SystemError) -> PromptInput {
    try withSignalsAsInput(terminal) { input throws(SystemError) in
        var modes = termios()
        guard unsafe tcgetattr(terminal, &modes) == 0 else { throw SystemError(errno) }
        var hidden = modes
        hidden.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        hidden.c_lflag |= tcflag_t(ICANON | ISIG)
        // Flushing discards text that was typed earlier with echo on, and so was visible.
        guard unsafe tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else { throw SystemError(errno) }
        defer { unsafe tcsetattr(terminal, TCSAFLUSH, &modes) }
        return try body(input)
    }
}

/// Runs `body` while signals that end or stop the process are input, and restores their handlers before it returns.
func withSignalsAsInput(
    _ terminal: Int32,
    _ body: (borrowing PromptTerminal) throws(SystemError) -> PromptInput
) throws(SystemError) -> PromptInput {
    let signals = try openPipe()
    defer {
        close(signals.read)
        close(signals.write)
    }

    let isFirst = signalPipe.compareExchange(expected: -1, desired: signals.write, ordering: .sequentiallyConsistent)
        .exchanged
    precondition(isFirst, "one prompt at a time")
    let former = caughtSignals.map { catchSignal($0) }
    defer {
        for case (let number, var action?) in zip(caughtSignals, former) { unsafe sigaction(number, &action, nil) }
        signalPipe.store(-1, ordering: .sequentiallyConsistent)
    }

    return try body(PromptTerminal(terminal: terminal, signals: signals.read))
}

/// The signals that a person or a system sends to end or stop a process.
private let caughtSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

/// The pipe that the handler writes to, or -1 while no prompt waits.
///
/// It is set before the first handler, so that the lazy initialization of a global never happens inside a handler.
private let signalPipe = Atomic<Int32>(-1)

/// Catches a signal until the returned former action is restored.
///
/// An ignored signal remains ignored: nil.
private func catchSignal(_ number: Int32) -> sigaction? {
    var former = sigaction()
    guard unsafe sigaction(number, nil, &former) == 0 else { return nil }
    let ignored = unsafe unsafeBitCast(former.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    guard !ignored else { return nil }

    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { number in
        // Only calls that signal-safety(7) allows, with errno preserved.
        let found = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = unsafe write(signalPipe.load(ordering: .relaxed), &byte, 1)
        errno = found
    }
    action.sa_flags = Int32(SA_RESTART)
    return unsafe sigaction(number, &action, nil) == 0 ? former : nil
}

/// Sends this thread a signal and returns after its action, even if the thread blocks the signal, as Dispatch's threads do.
func deliver(_ number: Int32) {
    var only = sigset_t()
    var former = sigset_t()
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &only, &former)
    raise(number)
    unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
}
