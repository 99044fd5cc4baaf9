import Synchronization
import Glibc

/// Files with secrets: passphrases, PINs, tokens.
///
/// A command line would show these to every user of the machine (proc(5): `/proc/PID/cmdline`).
///
/// A regular file is read at each call, because it may be replaced while a server runs. A file that can be read only once (a pipe,
/// a FIFO, `<(…)`, a terminal) is read once in the life of the process and remembered. `-` is standard input.
package enum SecretInput {
    /// The part of a file to read.
    package enum Extent: Hashable, Sendable {
        /// Everything before the first line feed. Of a longer line, at most `limit` bytes and two.
        case firstLine(limit: Int)
        /// The whole file. More than `limit` bytes fail with `EFBIG`.
        case whole(limit: Int)
    }

    private struct Once: Hashable {
        let device: UInt64
        let inode: UInt64
        let extent: Extent
    }

    private static let remembered = Mutex<[Once: [UInt8]]>([:])

    package static func bytes(of path: String, _ extent: Extent) throws(SystemError) -> [UInt8] {
        // Checked before opening, because opening a FIFO a second time would wait for a second writer.
        let once = Self.once(path, extent)
        if let once, let bytes = remembered.withLock({ $0[once] }) { return bytes }
        let descriptor = path == "-" ? STDIN_FILENO : try open(path)
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        if path != "-" { SecretAccess(of: descriptor).warn(of: path) }
        let bytes = isatty(descriptor) == 1 ? try typed(on: descriptor, path, extent) : try read(descriptor, extent)
        if let once { remembered.withLock { $0[once] = bytes } }
        return bytes
    }

    /// Opens a file.
    ///
    /// A file that this process has open (`/dev/stdin`, `/dev/fd/63`) is usable even if its user may not open it again.
    private static func open(_ path: String) throws(SystemError) -> Int32 {
        do throws(SystemError) { return try openFile(path, O_RDONLY) } catch {
            guard error.code == EACCES, let number = openDescriptor(path) else { throw error }
            let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { throw SystemError(errno) }
            return copy
        }
    }

    private static func openDescriptor(_ path: String) -> Int32? {
        if path == "/dev/stdin" { return STDIN_FILENO }
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    /// The name of the file in messages.
    package static func name(of path: String) -> String {
        path == "-" ? "standard input" : path
    }

    /// Returns nil for a file that can be read again.
    private static func once(_ path: String, _ extent: Extent) -> Once? {
        var found = stat()
        guard unsafe path == "-" ? fstat(STDIN_FILENO, &found) == 0 : stat(path, &found) == 0 else { return nil }
        // Standard input continues at its current position, also in a regular file.
        guard path == "-" || found.st_mode & S_IFMT != S_IFREG else { return nil }
        return Once(device: UInt64(found.st_dev), inode: UInt64(found.st_ino), extent: extent)
    }

    private static func read(_ descriptor: Int32, _ extent: Extent) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        switch extent {
        case .firstLine(let limit):
            while bytes.count < limit + 2 {
                let more = try readSome(limit + 2 - bytes.count, from: descriptor)
                bytes += more.prefix { $0 != UInt8(ascii: "\n") }
                if more.isEmpty || more.contains(UInt8(ascii: "\n")) { break }
            }
        case .whole(let limit):
            while true {
                let more = try readSome(limit + 1 - bytes.count, from: descriptor)
                bytes += more
                guard bytes.count <= limit else { throw SystemError(EFBIG) }
                if more.isEmpty { break }
            }
        }
        return bytes
    }

    static func question(for path: String) -> String { printable("\(name(of: path)), not shown: ") }

    /// Reads a line typed by a person, without echo.
    private static func typed(on terminal: Int32, _ path: String, _ extent: Extent) throws(SystemError) -> [UInt8] {
        let limit =
            switch extent {
            case .firstLine(let limit), .whole(let limit): limit + 1
            }
        let input = try withEchoOff(terminal) { input throws(SystemError) in
            try writeAll(question(for: path), to: STDERR_FILENO)
            let line = try input.line(limit: limit)
            try writeAll("\n", to: STDERR_FILENO)
            return line
        }
        switch input {
        case .line(let bytes): return bytes
        case .end: return []
        case .signal(let number):
            deliver(number)
            throw SystemError(EINTR)
        }
    }
}

/// Returns the lines of a file that ``SecretInput`` reads, without their ends.
///
/// - Parameter limit: The largest file in bytes. A longer one fails with `EFBIG`.
package func secretLines(of path: String, limit: Int) throws(SystemError) -> [String] {
    let bytes = try SecretInput.bytes(of: path, .whole(limit: limit))
    let lines = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    return lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
        String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
}
