/// A server, or a mirror of it, that is asked for files.
package struct Source: Sendable {
    /// As it was set: `https://updates.example.com`.
    package let name: String
    package let fetcher: any Fetcher

    package init(name: String, fetcher: any Fetcher) {
        self.name = name
        self.fetcher = fetcher
    }
}
