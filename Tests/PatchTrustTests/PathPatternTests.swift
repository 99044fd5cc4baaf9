import PatchFormat
import PatchTrust
import Testing

@Suite("A path pattern")
struct PathPatternTests {
    /// python-tuf 7.0.1 answers the same for each of these (`DelegatedRole._is_target_in_pathpattern`).
    @Test(
        arguments: [
            ("production/*", "production/patchlist.json", true),
            ("production/*", "production/web/1/manifest.json", false), ("production/*", "production/", true),
            ("production/*", "production", false), ("production/*", "beta/patchlist.json", false),
            ("production/*", "Production/a", false),
            ("production/*/*/*", "production/web/1/manifest.json", true),
            ("production/*/*/*", "production/web/manifest.json", false),
            ("production/*/*/*", "production/a/b/c/d", false), ("dial/*", "dial/production.json", true),
            ("dial/*", "dials/production.json", false),
            ("*", "a", true), ("*", "", true), ("*", "a/b", false), ("*/*", "a/b", true), ("**", "a/b", false),
            ("**", "ab", true),
            ("?", "a", true), ("?", "", false), ("?", "ab", false), ("?", "/", false), ("a?c", "abc", true),
            ("a?c", "ac", false), ("a/?", "a/b", true),
            ("*.json", "a.json", true), ("*.json", ".json", true), ("*.json", "a.jsonx", false),
            ("*.json", "x/a.json", false),
            ("a*b*c", "abc", true), ("a*b*c", "aXbYbZc", true), ("a*b*c", "acb", false), ("*a*", "banana", true),
            ("*ab", "aab", true),
            ("a", "a", true), ("a", "A", false), ("a", "ab", false), ("", "", true), ("", "a", false),
            ("a.c", "abc", false), ("a+", "aa", false),
            ("/a", "a", false), ("a/", "a", false), ("a/", "a/", true), ("a//b", "a/b", false), ("a\\*", "a\\b", true),
        ] as [(String, String, Bool)]
    )
    func `is compared component by component`(_ pattern: String, path: String, matches: Bool) {
        #expect(PathPattern(pattern).matches(path) == matches)
    }

    @Test func `full of stars does not blow up`() {
        let pattern = String(repeating: "*a", count: 200) + "b"
        #expect(!PathPattern(pattern).matches(String(repeating: "a", count: 5_000)))
    }
}
