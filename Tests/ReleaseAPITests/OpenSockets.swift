import Glibc

/// The TCP sockets of this process that have a port as their own.
func openSockets(on port: Int) -> [(descriptor: CInt, isListening: Bool)] {
    (CInt(3)..<4_096).compactMap { descriptor in
        guard option(SO_PROTOCOL, of: descriptor) == CInt(IPPROTO_TCP) else { return nil }
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let named = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { return CInt(-1) }
            return unsafe getsockname(descriptor, start.assumingMemoryBound(to: sockaddr.self), &length)
        }
        guard named == 0, Int(UInt16(bigEndian: address.sin_port)) == port else { return nil }
        return (descriptor, option(SO_ACCEPTCONN, of: descriptor) == 1)
    }
}

private func option(_ name: CInt, of descriptor: CInt) -> CInt? {
    var (value, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    return unsafe getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
}
