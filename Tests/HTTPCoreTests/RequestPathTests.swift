import HTTPCore
import Testing

@Suite("A request path")
struct RequestPathTests {
    // The vectors of GCDWebServerNormalizePath (row G4), each below a root: a target begins with a slash.
    @Test(arguments: [
        (target: "/", text: "/"),
        (target: "/foo/", text: "/foo"),
        (target: "/foo/bar", text: "/foo/bar"),
        (target: "/foo//bar", text: "/foo/bar"),
        (target: "/foo/bar//", text: "/foo/bar"),
        (target: "/foo/./bar", text: "/foo/bar"),
        (target: "/foo/bar/.", text: "/foo/bar"),
        (target: "/foo/../bar", text: "/bar"),
        (target: "//foo/../bar", text: "/bar"),
        (target: "/foo/..", text: "/"),
        (target: "/..", text: "/"),
        (target: "/.", text: "/"),
        (target: "//..", text: "/"),
        (target: "/../..", text: "/"),
    ])
    func `has its dot segments removed and stays below the root`(target: String, text: String) throws {
        #expect(try RequestPath(parsing: target).text == text)
    }

    @Test(arguments: [
        (target: "/%2e%2e/%2E%2e/etc/passwd", text: "/etc/passwd"),
        (target: "/a/.%2e/b", text: "/b"),
        (target: "/a%20b", text: "/a b"),
        (target: "/%C3%A9", text: "/é"),
        (target: "/%252e%252e/a", text: "/%2e%2e/a"),
        (target: "/a%3Fb%23c", text: "/a?b#c"),
        (target: "/...", text: "/..."),
        (target: "/a+b", text: "/a+b"),
    ])
    func `is decoded once, before dot segments are removed`(target: String, text: String) throws {
        #expect(try RequestPath(parsing: target).text == text)
    }

    @Test(arguments: [
        (target: "http://example.org/a/b?q", text: "/a/b"),
        (target: "HTTP://example.org:80/a", text: "/a"),
        (target: "https://example.org/..//a", text: "/a"),
        (target: "http://example.org", text: "/"),
        (target: "http://example.org?q=/x", text: "/"),
    ])
    func `is read out of an absolute target`(target: String, text: String) throws {
        #expect(try RequestPath(parsing: target).text == text)
    }

    @Test(arguments: [
        (target: "/", isFolder: true), (target: "/a", isFolder: false), (target: "/a/", isFolder: true),
        (target: "/a/.", isFolder: true), (target: "/a/b/..", isFolder: true), (target: "/a/../b", isFolder: false),
        (target: "/a/?q", isFolder: true),
    ])
    func `remembers whether it asked for a folder`(target: String, isFolder: Bool) throws {
        #expect(try RequestPath(parsing: target).hasTrailingSlash == isFolder)
    }

    @Test(arguments: [
        (target: "", error: RequestPathError.notAPath),
        (target: "foo/bar", error: .notAPath),
        (target: "*", error: .notAPath),
        (target: "example.org:443", error: .notAPath),
        (target: "http:///a", error: .notAPath),
        (target: "ftp://example.org/a", error: .notAPath),
        (target: "/a b", error: .forbiddenByte(0x20)),
        (target: "/a\u{0}", error: .forbiddenByte(0)),
        (target: "/a\n", error: .forbiddenByte(0x0A)),
        (target: "/a#b", error: .forbiddenByte(0x23)),
        (target: "/é", error: .forbiddenByte(0xC3)),
        (target: "/a%", error: .badEscape),
        (target: "/a%2", error: .badEscape),
        (target: "/a%2g", error: .badEscape),
        (target: "/%%32e", error: .badEscape),
        (target: "/%ff", error: .notUTF8),
        (target: "/%c0%ae%c0%ae/a", error: .notUTF8),
        (target: "/a%00.js", error: .controlCharacter),
        (target: "/a%0d%0aX", error: .controlCharacter),
        (target: "/a%7f", error: .controlCharacter),
        (target: "/a%c2%85", error: .controlCharacter),
        (target: "/a%2Fb", error: .encodedSlash),
        (target: "/..%2f..%2fetc/passwd", error: .encodedSlash),
        (target: "/a\\b", error: .backslash),
        (target: "/..%5c..%5cetc", error: .backslash),
    ])
    func `is refused when it could be read in two ways`(target: String, error: RequestPathError) {
        #expect(throws: error) { try RequestPath(parsing: target) }
    }
}
