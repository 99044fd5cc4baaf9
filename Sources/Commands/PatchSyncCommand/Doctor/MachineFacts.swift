import Dispatch
import Glibc
import PatchDaemon
import PatchFormat
import PatchStore
import SystemPackage

/// Facts of the machine for the doctor.
///
/// Reading them changes nothing.
enum MachineFacts {
    private static let proxyNames = ["http_proxy", "https_proxy", "all_proxy"]

    /// Returns the names of the variables that direct programs to a proxy.
    static func proxyVariables(_ environment: (String) -> String?) -> [String] {
        (proxyNames + proxyNames.map { $0.uppercased() }).filter { environment($0)?.isEmpty == false }
    }

    /// Returns the user's name, or the number if there is no name.
    static func name(ofUser id: UInt32) -> String {
        guard let entry = unsafe getpwuid(id) else { return "\(id)" }
        return unsafe String(cString: entry.pointee.pw_name)
    }

    static func owner(of path: FilePath) -> String {
        var facts = stat()
        guard unsafe lstat(path.string, &facts) == 0 else { return "its owner" }
        return name(ofUser: facts.st_uid)
    }

    // MARK: Addresses

    /// The address families of all active interfaces, except loopback and link-local addresses.
    static var families: AddressFamilies {
        var found = AddressFamilies()
        var first: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&first) == 0 else { return AddressFamilies(hasV4: true, hasV6: true) }
        defer { unsafe freeifaddrs(first) }
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            guard unsafe entry.pointee.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let address = unsafe entry.pointee.ifa_addr
            else { continue }
            switch unsafe Int32(address.pointee.sa_family) {
            case AF_INET: found.hasV4 = true
            case AF_INET6 where unsafe !isLinkLocal(address): found.hasV6 = true
            default: continue
            }
        }
        return found
    }

    private static func isLinkLocal(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            unsafe withUnsafeBytes(of: address.pointee.sin6_addr) { unsafe $0[0] == 0xFE && $0[1] & 0xC0 == 0x80 }
        }
    }

    /// Queries the name service on a separate thread, because the system's call has no timeout.
    static func addresses(of host: String, within time: Duration) async -> NameAnswer {
        let (answers, answer) = AsyncStream.makeStream(of: NameAnswer.self)
        DispatchQueue.global().async { answer.yield(resolved(host)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(time / .milliseconds(1)))) {
            answer.yield(.late)
        }
        for await first in answers { return first }
        return .late
    }

    private static func resolved(_ host: String) -> NameAnswer {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, nil, &hints, &first)
        guard code == 0 else { return code == EAI_AGAIN ? .late : .unknown }
        defer { unsafe freeaddrinfo(first) }
        var found = AddressFamilies()
        var next = unsafe first
        while let entry = unsafe next {
            unsafe found.hasV4 = found.hasV4 || entry.pointee.ai_family == AF_INET
            unsafe found.hasV6 = found.hasV6 || entry.pointee.ai_family == AF_INET6
            unsafe next = entry.pointee.ai_next
        }
        return .addresses(found)
    }

    // MARK: The port and the watches

    /// Listens on the loopback address for a moment, to find the port's owner.
    static func owner(ofPort port: Int) -> Diagnosis.Line.PageServer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .unusable("\(Errno(rawValue: errno))") }
        defer { close(descriptor) }
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if bound == 0, listen(descriptor, 1) == 0 { return .unused }
        let error = Errno(rawValue: errno)
        return error == .addressInUse ? .another(PortHolder(listeningOn: port)) : .unusable("\(error)")
    }

    /// Whether this user can watch files, as a running `serve` does.
    static var hasWatches: Bool {
        let descriptor = inotify_init1(Int32(IN_CLOEXEC))
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// The limit of this user's inotify instances.
    static var watchLimit: Int? {
        let path = FilePath("/proc/sys/fs/inotify/max_user_instances")
        guard let bytes = try? DiskFiles().read(path, limit: 64) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).filter { $0.isNumber })
    }
}
