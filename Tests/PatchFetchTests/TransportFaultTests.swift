import AsyncHTTPClient
import HTTPCore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PatchFormat
import PatchCrypto
import SystemPackage
import Testing

@testable import PatchFetch

@Suite("What goes wrong on the way to a server")
struct TransportFaultTests {
    private static let pin = TLSFault.pinMismatch(found: PublicKeyPin(digest: .init(of: [])))

    private static let faults: [(any Error & Sendable, TransportFault, isBeforeRequest: Bool)] = [
        (HTTPClientError.deadlineExceeded, .deadline, false),
        (HTTPClientError.readTimeout, .silent(.reading), false),
        (HTTPClientError.writeTimeout, .silent(.writing), false),
        (HTTPClientError.connectTimeout, .connectTimedOut, true),
        (HTTPClientError.getConnectionFromPoolTimeout, .connectTimedOut, true),
        (HTTPClientError.tlsHandshakeTimeout, .handshakeTimedOut, true),
        (HTTPClientError.remoteConnectionClosed, .endedEarly(.closed), false),
        (HTTPParserError.invalidEOFState, .endedEarly(.cut), false),
        (ChannelError.eof, .endedEarly(.channel), false),
        (ChannelError.connectTimeout(.seconds(1)), .connectTimedOut, true),
        (IOError(errnoCode: Errno.connectionRefused.rawValue, reason: "x"), .socket(.connectionRefused), true),
        (IOError(errnoCode: Errno.connectionReset.rawValue, reason: "x"), .socket(.connectionReset), false),
        (IOError(errnoCode: Errno.brokenPipe.rawValue, reason: "x"), .socket(.brokenPipe), false),
        (AnswerFault.status(7), .answer(.status(7)), false),
        (NIOSSLExtraError.failedToValidateHostname, .tls(.otherName), true),
        (NIOSSLError.uncleanShutdown, .tls(.ended), true), (Self.pin, .tls(.fault(Self.pin)), true),
        (CancellationError(), .other("CancellationError()"), false),
    ]

    @Test(arguments: Self.faults.indices)
    func `is told apart in one place, and whether the server has seen the request`(row: Int) {
        let (error, fault, isBeforeRequest) = Self.faults[row]
        #expect(TransportFault(error) == fault)
        #expect(TransportFault(error).isBeforeRequest == isBeforeRequest)
    }

    @Test func `has words for a device`() async throws {
        let server = try #require(ServerURL("https://updates.example.com"))
        func words(_ error: any Error) async -> String {
            await FetchError(error, path: "role.json", server: server, within: .zero).description
        }
        let early = await words(ChannelError.eof)
        #expect(early == "role.json: the connection to updates.example.com ended early")
        let unreachable = await words(
            TransportFault.noConnection(host: "updates.example.com", port: 443, withinDeadline: true)
        )
        #expect(unreachable == "role.json: cannot connect to updates.example.com:443")
        let nameless = await words(TransportFault.noAddress(host: "updates.example.com"))
        #expect(nameless == "the name service has no address for updates.example.com")
        let handshake = await words(NIOSSLError.uncleanShutdown)
        #expect(handshake == "role.json: the connection ended in the TLS handshake")
    }

    @Test func `that has its words already keeps them`() {
        #expect(TransportFault(TransportFault.malformed("x")) == .malformed("x"))
        #expect(TransportFault(HTTPParserError.invalidVersion) == .malformed("invalid HTTP version"))
    }
}
