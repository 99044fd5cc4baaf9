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
    }
}
