import Testing

@testable import PatchFetch

@Suite("A redirect on one server")
struct RedirectTargetTests {
    private static let from = "https://host:8443/app/metadata/timestamp.json?a"

    @Test(arguments: [
        ("/b/c.json", "https://host:8443/b/c.json"), ("c.json", "https://host:8443/app/metadata/c.json"),
        ("../../moved/c.json", "https://host:8443/moved/c.json"), ("../../../../c", "https://host:8443/c"),
        ("./c/./d", "https://host:8443/app/metadata/c/d"), ("..", "https://host:8443/app/"),
        (".", "https://host:8443/app/metadata/"),
        ("/a//b/../c?x=../y", "https://host:8443/a//c?x=../y"),
        ("?q", "https://host:8443/app/metadata/timestamp.json?q"),
        ("//HOST:8443/c", "https://host:8443/c"), ("https://host:8443", "https://host:8443/"),
        ("c#f", "https://host:8443/app/metadata/c"),
    ])
    func `leads where a browser would go, without dot segments`(location: String, url: String) {
        #expect(RedirectTarget(location, from: Self.from)?.url == url)
    }

    @Test(arguments: ["http://host:8443/c", "https://host/c", "//other:8443/c", "ftp://host/c", "", "a b", "a\\b"])
    func `leads nowhere on another server, or for what is no URL`(location: String) {
        #expect(RedirectTarget(location, from: Self.from) == nil)
    }
}
