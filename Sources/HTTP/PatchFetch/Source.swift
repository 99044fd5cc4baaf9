/// A server, or a mirror of it, that files are requested from.
package struct Source: Sendable {
    /// The name as configured: `https://updates.example.com`.
    package let name: String
    package let fetcher: any Fetcher

    package init(name: String, fetcher: any Fetcher) {
        self.name = name
        self.fetcher = fetcher
    }
}
