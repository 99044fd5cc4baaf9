import CLinux
import Glibc

/// Runs a command once and waits for it.
///
/// On timeout, its whole process group is killed, if it has one of its own. The input is a file in memory. A command may read it or
/// not, at any pace, so this process can neither block nor receive SIGPIPE.
package enum ChildProcess {
    /// The exit status of a command and its output.
    package struct Outcome: Equatable, Sendable {
        package let status: Int
        package let output: [UInt8]
    }

    /// Runs `command` with `input` as its standard input.
    ///
    /// Its standard error is that of this process.
    ///
    /// - Parameters:
    ///   - command: A path or a name that is searched on PATH, followed by its arguments.
    ///   - environment: Variables of the form `NAME=value`.
    ///   - seconds: The timeout.
    ///   - limit: The maximum size of the output, in bytes.
    ///   - inOwnGroup: Whether it has a process group of its own. In the group of this process, Ctrl-C at the terminal ends it too.
    package static func run(
        _ command: [String],
        environment: [String],
        input: [UInt8] = [],
        timeout seconds: Int,
        limit: Int,
        inOwnGroup: Bool = true
    ) throws(ChildProcessError) -> Outcome {
        let name = command[0]
        let message = try file(holding: input, for: name)
        defer { close(message) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw .notStarted(name, reason: Self.reason(errno)) }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let child = try start(command, environment: environment, input: message, output: ends[1], inOwnGroup)
        let killed = inOwnGroup ? -child : child
        return try Running(child: child, killed: killed, output: ends[0], limit: limit, seconds: seconds).result()
    }

    private static func file(holding bytes: [UInt8], for name: String) throws(ChildProcessError) -> Int32 {
        let file = unsafe memfd_create("patchline-message", PATCHLINE_MFD_CLOEXEC)
        guard file >= 0 else { throw .notStarted(name, reason: reason(errno)) }
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes[done...].withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else {
                close(file)
                throw .notStarted(name, reason: reason(errno))
            }
            done += max(count, 0)
        }
        lseek(file, 0, SEEK_SET)
        return file
    }

    private static func start(
        _ command: [String],
        environment: [String],
        input: Int32,
        output: Int32,
        _ inOwnGroup: Bool
    ) throws(ChildProcessError) -> pid_t {
        defer { close(output) }
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        // No signal is blocked or ignored.
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = (inOwnGroup ? POSIX_SPAWN_SETPGROUP : 0) | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        let error = unsafe posix_spawnp(&child, command[0], &actions, &attributes, &arguments, &variables)
        switch error {
        case 0: return child
        case ENOENT: throw .commandNotFound(command[0])
        default: throw .notStarted(command[0], reason: reason(error))
        }
    }

    private static func reason(_ error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}

/// A started command until it is reaped.
private struct Running {
    let child: pid_t
    /// The process, or its negated group, that a timeout kills.
    let killed: pid_t
    let output: Int32
    let limit: Int
    let seconds: Int
    private var bytes: [UInt8] = []
    private var isOpen = true

    init(child: pid_t, killed: pid_t, output: Int32, limit: Int, seconds: Int) {
        (self.child, self.killed, self.output) = (child, killed, output)
        (self.limit, self.seconds) = (limit, seconds)
    }

    /// Waits for the command's end.
    ///
    /// Processes that it left in the background may keep its output open, so the end of the output is not awaited.
    consuming func result() throws(ChildProcessError) -> ChildProcess.Outcome {
        let deadline = ContinuousClock.now.advanced(by: .seconds(seconds))
        while true {
            guard ContinuousClock.now < deadline else { throw afterKill(.timedOut(seconds: seconds)) }
            wait()
            try take()
            guard let status = ended() else { continue }
            try take()
            guard status & 0x7F == 0 else { throw .killed(signal: Int(status & 0x7F)) }
            return ChildProcess.Outcome(status: Int(status >> 8 & 0xFF), output: bytes)
        }
    }

    /// Waits a few milliseconds for output.
    private func wait() {
        var file = pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0)
        unsafe poll(&file, 1, 5)
    }

    private mutating func take() throws(ChildProcessError) {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while isOpen {
            let count = unsafe read(output, &chunk, chunk.count)
            if count == 0 { isOpen = false }
            guard count > 0 else { return }
            bytes += chunk.prefix(count)
            guard bytes.count <= limit else { throw afterKill(.tooMuchOutput(limit: limit)) }
        }
    }

    /// The exit status, once the command has ended.
    private func ended() -> Int32? {
        var status: Int32 = 0
        return unsafe waitpid(child, &status, WNOHANG) == child ? status : nil
    }

    private func afterKill(_ problem: ChildProcessError) -> ChildProcessError {
        kill(killed, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1, errno == EINTR {}
        return problem
    }
}
