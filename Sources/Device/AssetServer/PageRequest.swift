import HTTPCore
import HTTPFiles
import NIOHTTP1

/// The facts that a request contains about the page that sent it.
struct PageRequest: Equatable, Sendable {
    /// The parts of a URL that are compared with a Referer: the decoded path, and the query without a token.
    struct Address: Hashable, Sendable {
        let path: String
        let query: String?
    }

    enum Purpose: Equatable, Sendable {
        /// A page in a separate tab or window.
        case document
        /// A page inside another page, to which it belongs.
        case frame
        /// A worker that answers for all pages. It does not belong to a single page.
        case serviceWorker
        /// A file that can itself request more: a style sheet or a script.
        case referrer
        case other
    }

    let address: Address
    let purpose: Purpose
    /// The page or file of this origin that sent the request; nil if unknown.
    let referrer: Address?

    /// Whether later requests will name this one as their page: in a tab, or in a frame.
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
        // A request that a service worker passes on with fetch() has lost its destination. A navigation still has its mode.
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
        guard let target = try? RequestTarget(parsing: String(url), keepsEncoded: true) else { return nil }
        return Address(path: target.path.text, query: Admission.takeToken(from: target.query).query)
    }
}

extension FileRequest {
    /// Whether a browser is about to show the response in a separate tab or window.
    ///
    /// Requests of workers, programs and prefetches do not count.
    var showsDocument: Bool {
        guard method == .GET, headers.first(name: "Sec-Fetch-Dest") == "document" else { return false }
        let purposes = ["Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"].flatMap { headers[$0] }
        return !purposes.contains { purpose in
            ["prefetch", "prerender", "preview"].contains { purpose.lowercased().contains($0) }
        }
    }
}
