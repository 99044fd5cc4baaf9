import Glibc

/// Standard input, which can be read only once.
package enum StandardInput {
    private static let piece = 65_536

    /// Reads all of it.
    ///
    /// More than `limit` bytes fail with `EFBIG`.
    package static func bytes(limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try readSome(min(limit + 1 - bytes.count, piece), from: STDIN_FILENO)
            if more.isEmpty { return bytes }
            bytes += more
            guard bytes.count <= limit else { throw SystemError(EFBIG) }
        }
    }
}
