import Glibc

/// The lines of a file, or with `-` of standard input, without their ends.
///
/// For what other users of the machine must not read off a command line (proc(5): `/proc/PID/cmdline`).
///
/// - Parameter limit: bytes; what is longer fails with `EFBIG`.
package func secretLines(of path: String, limit: Int) throws(SystemError) -> [String] {
    let descriptor = path == "-" ? STDIN_FILENO : try openFile(path, O_RDONLY)
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    while true {
        let more = try readSome(limit + 1 - bytes.count, from: descriptor)
        bytes += more
        guard bytes.count <= limit else { throw SystemError(EFBIG) }
        if more.isEmpty { break }
    }
    return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
        String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
}
