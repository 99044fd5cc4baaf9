import Glibc
import PatchDaemon
import Testing

/// A socket as a service manager has one: datagrams come in.
private final class Listener {
    let descriptor: Int32

    /// - Parameter name: a path; an abstract name begins with a NUL.
    init(_ name: [UInt8]) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(2 + name.count)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    var next: String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite("The service manager")
struct ServiceManagerTests {
    private let unique = UInt64.random(in: 0...UInt64.max)

    @Test(arguments: [true, false])
    func `hears in its own words, at a path and at an abstract name`(isAbstract: Bool) throws {
        let path = isAbstract ? "@patchline-\(unique)" : "/tmp/patchline-\(unique).sock"
        let listener = try Listener(isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8))
        defer { if !isAbstract { _ = unsafe unlink(path) } }
        let manager = try #require(ServiceManager { $0 == "NOTIFY_SOCKET" ? path : nil })
        #expect(manager.watchdog == nil)
        manager.notify(.ready, .status("keeps shop\nand till"))
        #expect(listener.next == "READY=1\nSTATUS=keeps shop and till")
        manager.notify(.reloading(microseconds: 17))
        #expect(listener.next == "RELOADING=1\nMONOTONIC_USEC=17")
        manager.notify(.alive)
        manager.notify(.stopping)
        #expect(listener.next == "WATCHDOG=1" && listener.next == "STOPPING=1")
        #expect(ServiceManager.microseconds > 0)
    }

    @Test func `is nobody without a socket, and one that is gone stops no work`() throws {
        for name in [nil, "", "/", "@", "relative", "vsock:2:1"] { #expect(ServiceManager { _ in name } == nil) }
        let gone = try #require(ServiceManager { $0 == "NOTIFY_SOCKET" ? "/tmp/patchline-\(unique).gone" : nil })
        #expect(!gone.notify(.ready))
        let long = try #require(
            ServiceManager { $0 == "NOTIFY_SOCKET" ? "/" + String(repeating: "x", count: 200) : nil }
        )
        #expect(!long.notify(.ready))
    }

    @Test func `that does not read is not waited for for ever`() throws {
        let path = "/tmp/patchline-\(unique).full"
        let listener = try Listener(Array(path.utf8))
        defer { _ = unsafe unlink(path) }
        let manager = try #require(ServiceManager { $0 == "NOTIFY_SOCKET" ? path : nil })
        var sent = 0
        while sent < 100_000, manager.notify(.alive) { sent += 1 }
        #expect(sent < 100_000 && listener.next == "WATCHDOG=1")
    }

    @Test(
        arguments: [
            ("30000000", nil, .seconds(30)), ("30000000", "42", .seconds(30)), ("30000000", "43", nil), ("0", nil, nil),
            ("x", nil, nil), (nil, nil, nil),
        ] as [(String?, String?, Duration?)]
    )
    func `wants signs of life of the process that it names alone`(time: String?, process: String?, wanted: Duration?)
        throws
    {
        let variables = ["NOTIFY_SOCKET": "/x/y", "WATCHDOG_USEC": time, "WATCHDOG_PID": process]
        let manager = try #require(ServiceManager(process: 42) { variables[$0] ?? nil })
        #expect(manager.watchdog == wanted)
    }

    @Test func `hands over sockets by name, to the process that it names alone`() {
        func sockets(_ variables: [String: String]) -> InheritedSockets {
            InheritedSockets(process: 42) { variables[$0] }
        }
        let two = sockets(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "control:other"])
        #expect(two.descriptor(named: "control") == 3 && two.descriptor(named: "other") == 4)
        #expect(two.descriptor(named: "x") == nil)
        let one = sockets(["LISTEN_PID": "42", "LISTEN_FDS": "1"])
        #expect(one.descriptor(named: "control") == 3, "the only one there is")
        for none in [
            ["LISTEN_PID": "43", "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"], ["LISTEN_PID": "42"],
            ["LISTEN_PID": "42", "LISTEN_FDS": "0"], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
        ] {
            #expect(sockets(none).sockets.isEmpty)
        }
    }
}
