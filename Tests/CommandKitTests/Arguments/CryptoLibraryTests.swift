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
            for number in 1...2 {
                DispatchQueue(label: "digests \(number)").async {
                    while true { _ = SHA256Digest(of: [1, 2, 3]) }
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            exit(0)
        }
    }
}
