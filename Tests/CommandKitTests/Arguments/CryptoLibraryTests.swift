import Dispatch
import Glibc
import PatchCrypto
import PatchFormat
import Testing

@Suite("The cryptographic library")
struct CryptoLibraryTests {
    /// Without the call, `exit` frees the library's locks under the other threads.
    @Test func `remains usable by other threads while the process ends`() async {
        await #expect(processExitsWith: .success) {
            CryptoLibrary.outliveExit()
            await endWhileDigesting()
        }
    }

    /// An app that links the library does not make the call.
    @Test func `remains usable in an app that ends, whichever use of the library was first`() async {
        await #expect(processExitsWith: .success) { await endWhileDigesting() }
        await #expect(processExitsWith: .success) {
            _ = SecureRandom.bytes(16)
            await endWhileDigesting()
        }
        await #expect(processExitsWith: .success) {
            _ = try? PublicKey(ed25519: [UInt8](repeating: 1, count: 32))
            await endWhileDigesting()
        }
        await #expect(processExitsWith: .success) {
            _ = try? PublicKey(pem: "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n")
            await endWhileDigesting()
        }
    }
}

/// Ends the process once two other threads compute digests.
private func endWhileDigesting() async {
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    for number in 1...2 {
        DispatchQueue(label: "digests \(number)").async {
            _ = SHA256Digest(of: [1, 2, 3])
            started.yield()
            while true { _ = SHA256Digest(of: [1, 2, 3]) }
        }
    }
    for await _ in starts.prefix(2) {}
    exit(0)
}
