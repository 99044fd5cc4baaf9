import HTTPFiles
import NIOHTTP1

/// The responses that a page receives in place of a file.
extension FileAnswer {
    /// Another version is on trial by now.
    ///
    /// The next page is its first.
    static let otherVersionStarts = refused(
        .serviceUnavailable,
        message: "Another version of the app is just starting; load the page again.",
        headers: ["Retry-After": "1"]
    )

    static let tooManyPages = refused(
        .serviceUnavailable,
        message: "Too many pages are open.",
        headers: ["Retry-After": "5"]
    )

    /// The response to a page's call while the app starts.
    static let stillStarting = PageAPI.json(.serviceUnavailable, "error", "the app is still starting")

    static func gone(_ path: some CustomStringConvertible) -> FileAnswer {
        refused(
            .notFound,
            message: "\(path) belongs to a release that no longer exists; load the page again.",
            headers: [:]
        )
    }

    static func damaged(_ path: some CustomStringConvertible) -> FileAnswer {
        refused(
            .serviceUnavailable,
            message: "\(path) is damaged on this device; the next sync heals it.",
            headers: ["Retry-After": "5"]
        )
    }
}
