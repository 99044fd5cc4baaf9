import CommandSupport
import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage
import Terminal

/// Where a server's lines go: requests into a file or to standard output, all else to standard error.
///
/// Each line is one write, so that a reader sees whole lines at once.
struct ServerLog: Sendable {
    private let format: LogFormat
    private let requests: Console?
    private let file: FilePath?

    /// - Parameter accessLog: a file, or `-` for standard output; without it requests are not written.
    init(_ format: LogFormat, accessLog: String?) throws {
        self.format = format
        guard let accessLog, accessLog != "-" else {
            (requests, file) = (accessLog.map { _ in .standardOutput }, nil)
            return
        }
        let path = FilePath(asNamed: accessLog)
        (requests, file) = (Console(descriptor: try Self.open(path).rawValue, isTerminal: false), path)
    }

    /// Nil where requests are not written, so that nobody makes entries in vain.
    var accessLog: (@Sendable (AccessLogEntry) -> Void)? {
        guard let requests else { return nil }
        return { [format] entry in
            requests.line(LogLine(entry, at: ProcessEnvironment.preciseNow()).text(format))
        }
    }

    /// - Parameter message: printable.
    @Sendable func say(_ level: LogLine.Level, _ message: String, app: AppID? = nil) {
        Console.standardError.line(text(level, message, app: app))
    }

    /// A line as ``say(_:_:app:)`` writes it.
    func text(_ level: LogLine.Level, _ message: String, app: AppID? = nil) -> String {
        LogLine(level, .message(message, app: app), at: ProcessEnvironment.preciseNow()).text(format)
    }

    /// Says where the server listens: a line on standard output that programs wait for.
    func tellListening(_ what: String, _ url: String) {
        guard format == .text else { return say(.info, "\(what) \(url)") }
        Console.standardOutput.line("patchsrv: \(what) \(url)")
    }

    /// Goes on in a new file where the old one was renamed: what `logrotate` asks for.
    func reopen() {
        guard let file, let requests else { return }
        do {
            let new = try Self.open(file)
            try new.closeAfter { _ = try new.duplicate(as: FileDescriptor(rawValue: requests.descriptor)) }
        } catch { say(.error, Self.notReopened(file, error)) }
    }

    static func notReopened(_ file: FilePath, _ error: any Error) -> String {
        "cannot open \(printable(file.string)) again, so requests still go to the file before: \(error)"
    }

    /// It holds the addresses of devices: its owner's alone, unless it is there already with other rights.
    private static func open(_ file: FilePath) throws(FileError) -> FileDescriptor {
        do {
            return try FileDescriptor.open(
                file,
                .writeOnly,
                options: [.create, .append, .closeOnExec],
                permissions: FilePermissions(rawValue: 0o600)
            )
        } catch { throw FileError(error as? Errno ?? .ioError, .append, file) }
    }
}
