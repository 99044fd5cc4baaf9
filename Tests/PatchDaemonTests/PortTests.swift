import PatchFormat
import DeviceOutput
import Glibc
import PatchDaemon
import SystemPackage
import CommandKit
import Testing

@Suite("The port of a store's pages")
struct PortTests {
    @Test func `is the first store's that claims it, until that store ends or has another`() {
        let ports = PortTable()
        #expect(ports.claim(12_095, for: "shop") == nil)
        #expect(ports.claim(12_095, for: "shop") == nil)
        #expect(ports.claim(12_095, for: "beta") == "shop")
        #expect(ports.claim(12_096, for: "shop") == nil)
        #expect(ports.claim(12_095, for: "beta") == nil)
        ports.release(of: "shop")
        #expect(ports.claim(12_096, for: "till") == nil)
        #expect(ports.claim(12_095, for: "till") == "beta")
    }

    @Test func `names the program that has it`() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        try #require(isBound)
        let port = Int(UInt16(bigEndian: address.sin_port))
        guard case .program(let process, let name) = PortHolder(listeningOn: port) else {
            Issue.record("nobody was found")
            return
        }
        #expect(process == Int(getpid()) && !name.isEmpty)
        #expect(PortHolder(listeningOn: 0) == .unknown)
    }

    @Test(
        arguments: [
            (.store("beta"), "the store beta", false),
            (.program(process: 7, name: "python3"), "process 7 (python3)", true),
            (.user("ann"), "a program of the user ann", true), (.unknown, "another program", true),
        ] as [(PortHolder, String, Bool)]
    )
    func `is told with its owner and the remedy`(holder: PortHolder, words: String, canEnd: Bool) {
        let failure = Failure.portTaken(12_095, by: holder)
        #expect(failure.message == "port 12095 is taken by \(words)")
        let remedy = "give the store a port of its own in the settings file, such as `port: 12096`"
        let loss = ". Pages on another port begin with empty storage."
        #expect(failure.hint == (canEnd ? "end that program, or " : "") + remedy + loss)
        #expect(failure.code == .busy)
        #expect(Failure.portTaken(65_535, by: holder).hint?.contains("`port: 65534`") == true)
    }
}
