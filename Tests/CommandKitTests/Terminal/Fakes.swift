import Dispatch
import Glibc
import CommandKit

let plain = Console(descriptor: -1, isTerminal: false)
let colored = Console(descriptor: -1, isTerminal: true, allowsColor: true)

func terminal(width: Int) -> Console {
    Console(descriptor: -1, isTerminal: true, width: width)
}

func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}

/// A clock that moves only when it is read, by a fixed step.
final class StoppedClock: Clock, @unchecked Sendable {
    // Unchecked: `reads` is touched on the serial queue only.
    private let queue = DispatchQueue(label: "clock")
    private var reads = 0
    private let step: Duration

    init(advancing step: Duration = .zero) { self.step = step }

    struct Instant: InstantProtocol {
        let offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}

    var now: Instant {
        queue.sync {
            defer { reads += 1 }
            return Instant(offset: step * reads)
        }
    }
}

/// What a report wrote, in the order of writing.
final class Written: @unchecked Sendable {
    // Unchecked: `pieces` is touched on the serial queue only.
    private let queue = DispatchQueue(label: "written")
    private var pieces = ""

    func append(_ text: String) { queue.sync { pieces += text } }
    var text: String { queue.sync { pieces } }
}

/// A pipe, closed with its last reference.
final class Pipe: Sendable {
    let read: Int32
    let write: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(unsafe pipe(&ends) == 0)
        (read, write) = (ends[0], ends[1])
    }

    deinit {
        Glibc.close(read)
        Glibc.close(write)
    }

    func makeWriteEndNonBlocking() {
        _ = fcntl(write, F_SETFL, O_NONBLOCK)
    }

    /// Reads until `count` bytes are there, or the end.
    func readOnAnotherThread(count: Int) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var bytes: [UInt8] = []
                while bytes.count < count {
                    let more = readBytes(read)
                    if more.isEmpty { break }
                    bytes += more
                }
                continuation.resume(returning: bytes)
            }
        }
    }
}

/// Ends what a pipe's reader sees.
func close(_ pipe: Pipe) {
    // The descriptor stays taken until the pipe goes, so that its number is not used again meanwhile.
    redirect(pipe.write, to: "/dev/null")
}

/// Makes a descriptor write to a file from now on.
func redirect(_ descriptor: Int32, to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
    precondition(file >= 0 && dup2(file, descriptor) == descriptor)
    close(file)
}

/// Stops SIGPIPE from ending the process, as servers do.
func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
}

func setEnvironment(_ name: String, _ value: String) {
    _ = unsafe setenv(name, value, 1)
}

func readBytes(_ descriptor: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

func terminalEchoes(_ descriptor: Int32) -> Bool {
    var modes = termios()
    return unsafe tcgetattr(descriptor, &modes) == 0 && modes.c_lflag & tcflag_t(ECHO) != 0
}

/// A file that goes with its last reference.
final class TemporaryFile: Sendable {
    let path: String

    init(_ content: String) throws {
        var template = Array("/tmp/patchline-terminal-XXXXXX\0".utf8CString)
        let descriptor = unsafe mkstemp(&template)
        guard descriptor >= 0 else { throw SystemError(errno) }
        path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        Console(descriptor: descriptor, isTerminal: false).write(content)
        Glibc.close(descriptor)
    }

    deinit { _ = unsafe unlink(path) }
}

/// A terminal and the person in front of it.
final class PseudoTerminal: Sendable {
    /// The person's side.
    let master: Int32
    /// The program's side.
    let slave: Int32
    private let shown = Written()

    /// Whether it is this process's controlling terminal, which stays: closing it would end the process by SIGHUP.
    private let isControlling: Bool

    init(columns: UInt16 = 80, isControlling: Bool = false) throws {
        var (master, slave) = (Int32(-1), Int32(-1))
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard unsafe openpty(&master, &slave, nil, nil, &size) == 0 else { throw SystemError(errno) }
        (self.master, self.slave) = (master, slave)
        self.isControlling = isControlling
    }

    deinit {
        if isControlling { return }
        close(master)
        close(slave)
    }

    /// A new terminal that is `/dev/tty` of this process: for processes made for one test, which end after a minute.
    static func controlling() throws -> PseudoTerminal {
        alarm(60)
        let terminal = try PseudoTerminal(isControlling: true)
        guard setsid() > 0, ioctl(terminal.slave, UInt(TIOCSCTTY), 0) == 0 else { throw SystemError(errno) }
        return terminal
    }

    /// Waits on another thread for each text to be shown, and then types.
    func answer(_ script: [(text: String, typed: String)]) {
        DispatchQueue.global().async { [self] in
            var unread = ""
            for (text, typed) in script {
                while !unread.hasSuffix(text) {
                    let more = String(decoding: readBytes(master), as: UTF8.self)
                    if more.isEmpty { return }
                    unread += more
                    shown.append(more)
                }
                unread = ""
                Console(descriptor: master, isTerminal: false).write(typed)
            }
        }
    }

    /// Everything that was shown, once the program is done with the terminal.
    func seen() -> String {
        // What the program wrote is here before a mark that is written after it.
        Console(descriptor: slave, isTerminal: false).write("\u{0}")
        while !shown.text.hasSuffix("\u{0}") {
            shown.append(String(decoding: readBytes(master), as: UTF8.self))
        }
        return String(shown.text.dropLast())
    }

    var echoes: Bool { terminalEchoes(slave) }
}

/// A FIFO whose both ends are open here, so that nobody waits for another.
func makeFIFO(_ path: String, holding text: String) -> (path: String, ends: Int32) {
    precondition(unsafe mkfifo(path, 0o600) == 0)
    let ends = unsafe open(path, O_RDWR | O_CLOEXEC)
    Console(descriptor: ends, isTerminal: false).write(text)
    return (path, ends)
}

func overwrite(_ path: String, with text: String) {
    let file = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    Console(descriptor: file, isTerminal: false).write(text)
    close(file)
}

func removeFile(_ path: String) {
    _ = unsafe unlink(path)
}
