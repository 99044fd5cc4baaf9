import ReleaseClient
import Testing

@Suite("A token of a release service")
struct ServiceTokenTests {
    private let secret = String(repeating: "ab", count: 32)

    @Test func `shows its id and never its secret`() throws {
        let token = try #require(ServiceToken("plt_0123456789abcdef_\(secret)\n"))
        #expect(token.id == "0123456789abcdef")
        #expect("\(token)" == "token 0123456789abcdef")
    }

    @Test(arguments: ["", "plt_", "plt_0123456789abcdef", "plt_0123456789abcdef_ab", "abc_0123456789abcdef_SECRET"])
    func `has one form`(_ text: String) {
        #expect(ServiceToken(text.replacing("SECRET", with: secret)) == nil)
        #expect(ServiceToken("plt_0123456789ABCDEF_\(secret)") == nil)
    }
}
