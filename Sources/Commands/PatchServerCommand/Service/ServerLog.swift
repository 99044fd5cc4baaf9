import ArgumentParser
import CommandKit
import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage

/// The log output of a server: requests to a file or standard output, all other lines to standard error.
///
/// Each line is one write, so that a reader sees whole lines. A line that cannot be written is dropped and counted, and the server
/// continues: see `LastingOutput`.
struct ServerLog: Sendable {
    private enum Requests {
        case none
        case standardOutput
        case file(LastingOutput, FilePath)
    }

    private let format: LogFormat
    private let requests: Requests

    /// Opens the log.
    ///
    /// A file that cannot be opened now is tried again with each line.
    ///
    /// - Parameter accessLog: A file, or `-` for standard output. Nil if requests are not logged.
    init(_ format: LogFormat, accessLog: String?) {
        self.format = format
        switch accessLog {
        case nil: requests = .none
        case "-"?: requests = .standardOutput
        case let name?:
            let file = FilePath(asNamed: name)
            let output = LastingOutput(notice: format.lost) { () throws(SystemError) in try Self.open(file) }
            requests = .file(output, file)
            if let error = output.fault { say(.error, Self.notOpened(file, Self.fault(error, file))) }
        }
    }

    /// Nil if requests are not logged, so that no entries are made.
    var accessLog: (@Sendable (AccessLogEntry) -> Void)? {
        let line: @Sendable (String) -> Void
        switch requests {
        case .none: return nil
        case .standardOutput: line = { Console.standardOutput.line($0) }
        case .file(let output, _): line = { output.line($0) }
        }
        return { [format] entry in line(LogLine(entry, at: ProcessEnvironment.preciseNow()).text(format)) }
    }

    /// - Parameter message: A printable text.
    @Sendable func say(_ level: LogLine.Level, _ message: String, app: AppID? = nil) {
        Console.standardError.line(text(level, message, app: app))
    }

    /// A line in the format of ``say(_:_:app:)``.
    func text(_ level: LogLine.Level, _ message: String, app: AppID? = nil) -> String {
        LogLine(level, .message(message, app: app), at: ProcessEnvironment.preciseNow()).text(format)
    }

    /// Reports the address of the server: a line on standard output that programs wait for.
    func reportListening(_ what: String, _ url: String) {
        guard format == .text else { return say(.info, "\(what) \(url)") }
        Console.standardOutput.line("patchsrv: \(what) \(url)")
    }

    /// Opens the log file again after `logrotate` has renamed it.
    func reopen() {
        guard case .file(let output, let file) = requests else { return }
        do throws(SystemError) { try output.reopen() } catch {
            say(.error, Self.notReopened(file, Self.fault(error, file)))
        }
    }

    static func notReopened(_ file: FilePath, _ error: any Error) -> String {
        "cannot open \(printable(file.string)) again, so requests still go to the file before: \(error)"
    }

    static func notOpened(_ file: FilePath, _ error: any Error) -> String {
        "cannot open \(printable(file.string)), so requests are not logged until it can be opened: \(error)"
    }

    private static func fault(_ error: SystemError, _ file: FilePath) -> FileError {
        FileError(Errno(rawValue: error.code), .append, file)
    }

    /// Opens the file, which contains addresses of devices.
    ///
    /// A new one is readable by its owner only. Existing permissions are kept.
    private static func open(_ file: FilePath) throws(SystemError) -> Int32 {
        do {
            let isPipe = (try? DiskFiles().status(of: file.followingLinks))?.kind == .other
            // A FIFO opened in both directions does not wait for a reader, and neither do its lines.
            return try FileDescriptor.open(
                file,
                isPipe ? .readWrite : .writeOnly,
                options: [.create, .append, .closeOnExec, .nonBlocking],
                permissions: FilePermissions(rawValue: 0o600)
            ).rawValue
        } catch { throw SystemError((error as? Errno ?? .ioError).rawValue) }
    }
}

/// A command that serves, also if its output cannot be written.
protocol ServingCommand: AsyncParsableCommand {
    var logFormat: LogFormat { get }
}

extension LogFormat {
    /// A log's line about lines that could not be written.
    var lost: @Sendable (Int) -> String {
        { [self] count in
            let content = LogLine.Content.message(LastingOutput.words(count), app: nil)
            return LogLine(.warning, content, at: ProcessEnvironment.preciseNow()).text(self)
        }
    }
}
