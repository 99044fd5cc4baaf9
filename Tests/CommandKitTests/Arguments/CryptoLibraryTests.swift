import Dispatch
import Glibc
import PatchCrypto
import PatchFormat
import Testing

@Suite("The cryptographic library")
struct CryptoLibraryTests {
    /// Without the call, `exit` frees the library's locks under the other thread.
    @Test func `remains usable by other threads while the process ends`() async {
        await #expect(processExitsWith: .success) {
            CryptoLibrary.outliveExit()
            try await endWhileDigesting()
        }
    }

    /// An app that links the library does not make the call.
    @Test func `remains usable in an app that ends, whichever use of the library was first`() async {
        await #expect(processExitsWith: .success) { try await endWhileDigesting() }
        await #expect(processExitsWith: .success) {
            _ = SecureRandom.bytes(16)
            try await endWhileDigesting()
        }
        await #expect(processExitsWith: .success) {
            _ = try? PublicKey(ed25519: [UInt8](repeating: 1, count: 32))
            try await endWhileDigesting()
        }
        await #expect(processExitsWith: .success) {
            _ = try? PublicKey(pem: "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n")
            try await endWhileDigesting()
        }
    }
}

/// Ends the process while other threads compute digests.
private func endWhileDigesting() async throws {
    for number in 1...2 {
        DispatchQueue(label: "digests \(number)").async {
            while true { _ = SHA256Digest(of: [1, 2, 3]) }
        }
    }
    try await Task.sleep(for: .milliseconds(20))
    exit(0)
}
