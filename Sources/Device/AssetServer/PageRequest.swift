import HTTPFiles
import NIOHTTP1

/// What a request says of the page that it is made for.
struct PageRequest: Equatable, Sendable {
    /// What a URL is made of, for the comparison with a Referer: the decoded path, and the query without a token.
    struct Address: Hashable, Sendable {
        let path: String
        let query: String?
    }

    enum Purpose: Equatable, Sendable {
        /// A page in a tab or window of its own.
        case document
        /// A page within a page; it belongs to that one.
        case frame
        /// A worker that answers for all pages; it belongs to none.
        case serviceWorker
        /// Something that may itself ask for more: a style sheet, a script.
        case referrer
        case other
    }

    let address: Address
    let purpose: Purpose
    /// The page or file of this origin that asks; nil when nothing is said.
    let referrer: Address?

    /// Whether it is one that others will name as theirs: in a tab, or in a frame.
    var isPage: Bool { purpose == .document || purpose == .frame }

    init(address: Address, purpose: Purpose, referrer: Address?) {
        self.address = address
        self.purpose = purpose
        self.referrer = referrer
    }

    init(_ request: FileRequest) {
        address = Address(path: request.path.text, query: request.query)
        purpose = Self.purpose(of: request)
        referrer = Self.referrer(of: request)
    }

    private static func purpose(of request: FileRequest) -> Purpose {
        if request.headers.contains(name: "Service-Worker") { return .serviceWorker }
        switch request.headers.first(name: "Sec-Fetch-Dest") {
        case "document": return .document
        case "iframe", "frame", "embed", "object": return .frame
        case "serviceworker": return .serviceWorker
        case "style", "script", "worker", "sharedworker": return .referrer
        // What a service worker passes on with fetch() has lost its destination, a navigation not its mode.
        case nil where !request.isNavigation,
            "empty" where request.headers.first(name: "Sec-Fetch-Mode") != "navigate":
            let path = request.path.text
            return path.hasSuffix(".js") || path.hasSuffix(".css") || path.hasSuffix(".mjs") ? .referrer : .other
        case nil, "empty": return .document
        default: return .other
        }
    }

    private static func referrer(of request: FileRequest) -> Address? {
        guard let text = request.headers.first(name: "Referer"), let host = request.headers.first(name: "Host"),
            text.lowercased().hasPrefix("http://\(host.lowercased())/")
        else { return nil }
        let url = text.prefix { $0 != "#" }
        guard let path = try? RequestPath(parsing: String(url)) else { return nil }
        let query = url.firstIndex(of: "?").map { String(url[url.index(after: $0)...]) }
        return Address(path: path.text, query: Admission.takeToken(from: query).query)
    }
}

extension FileRequest {
    /// Whether a browser says that it is about to show the answer in a tab or window of its own.
    ///
    /// A worker's own requests, a program's and a prefetch do not.
    var showsDocument: Bool {
        guard method == .GET, headers.first(name: "Sec-Fetch-Dest") == "document" else { return false }
        let purposes = ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].flatMap { headers[$0] }
        return !purposes.contains { purpose in
            ["prefetch", "prerender", "preview"].contains { purpose.lowercased().contains($0) }
        }
    }
}
