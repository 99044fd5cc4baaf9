import Glibc

// The C library's calls of this module, so that only this file needs unsafe pointers for them. Calls that only the passphrase
// prompt needs are in EchoOff.swift.

/// A failed call of the C library, with its `errno`.
package struct SystemError: Error, Equatable, Sendable {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The system's text: "No such file or directory".
    package var reason: String {
        var text = [CChar](repeating: 0, count: 256)
        guard unsafe strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// Writes all of `text`, despite interrupted and short writes.
///
/// Waits while a non-blocking stream is full.
func writeAll(_ text: String, to descriptor: Int32) throws(SystemError) {
    try writeAll(Array(text.utf8), to: descriptor)
}

func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
        let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if written >= 0 {
            bytes = bytes.dropFirst(written)
        } else if errno == EAGAIN {
            // The stream may be non-blocking because another program on the terminal made it so.
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&room, 1, -1)
        } else if errno != EINTR {
            throw SystemError(errno)
        }
    }
}

/// Writes as many bytes as a stream accepts without waiting.
///
/// - Returns: The number of accepted bytes, and an `errno` if not all were accepted: `EAGAIN` if the stream is full for now.
func writeSome(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, fault: Int32?) {
    let kind = kind(of: descriptor)
    var rest = bytes[...]
    while !rest.isEmpty {
        if kind != S_IFREG {
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if unsafe poll(&room, 1, 0) == 0 { return (bytes.count - rest.count, EAGAIN) }
        }
        // A writable pipe has room for this many bytes, so a blocking pipe does not block.
        let next = kind == S_IFREG ? rest : rest.prefix(Int(PIPE_BUF))
        let written = unsafe next.withUnsafeBytes { buffer in
            kind == S_IFSOCK
                ? unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                : unsafe write(descriptor, buffer.baseAddress, buffer.count)
        }
        if written > 0 {
            rest = rest.dropFirst(written)
        } else if written == 0 || errno != EINTR {
            return (bytes.count - rest.count, written == 0 ? EIO : errno)
        }
    }
    return (bytes.count, nil)
}

/// Returns `S_IFREG`, `S_IFIFO` and so on, or 0 for a closed descriptor.
func kind(of descriptor: Int32) -> mode_t {
    var found = stat()
    return unsafe fstat(descriptor, &found) == 0 ? found.st_mode & S_IFMT : 0
}

/// Reads the next bytes, at most `limit`.
///
/// Returns none at the end.
func readSome(_ limit: Int, from descriptor: Int32) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    while true {
        let count = unsafe read(descriptor, &bytes, limit)
        if count >= 0 { return Array(bytes.prefix(count)) }
        if errno != EINTR { throw SystemError(errno) }
    }
}

/// Opens a file that child processes do not inherit.
///
/// The caller closes it.
func openFile(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
    while true {
        let descriptor = unsafe open(path, flags | O_CLOEXEC)
        if descriptor >= 0 { return descriptor }
        if errno != EINTR { throw SystemError(errno) }
    }
}

/// Opens a pipe whose ends are non-blocking and not inherited by child processes.
///
/// The caller closes both.
func openPipe() throws(SystemError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw SystemError(errno) }
    for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return (ends[0], ends[1])
}

/// Returns the columns of the terminal behind a descriptor, or nil if unknown.
func terminalColumns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}

/// Returns a variable of this process's environment.
func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
}
