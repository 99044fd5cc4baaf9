import HTTPFiles
import NIOHTTP1

/// Where in a page scripts are put, and under which type it is sent then; or why it stays as it is.
///
/// They stand first in the head, before anything of the page's own that runs. Nothing else of the page changes: where a doubt is
/// left, it stays as it is.
package enum PagePlan: Equatable, Sendable {
    case put(at: Int, contentType: String)
    case untouched(Reason)

    /// In words that follow `it`.
    package enum Reason: String, CaseIterable, Sendable {
        case tooLarge = "is larger than 4 MB"
        case notHTML = "is not sent as text/html"
        case wideEncoding = "is in UTF-16"
        case statefulEncoding = "is in an encoding with escape sequences"
        case binary = "is no text"
        case undeclared = "holds more than ASCII and declares no encoding"
        case noPlace = "has no place for them in its first 64 kB"
        /// One of its scripts is damaged: all or none.
        case damagedScript = "has a script that is damaged"

        package func words(_ page: String) -> String { "the page \(page) came without its scripts: it \(rawValue)" }
    }

    /// Larger pages are not held in memory.
    static let pageLimit = 4 * 1024 * 1024
    /// How far a place is looked for.
    static let reach = 64 * 1024
    /// Browsers look for an encoding so far (HTML Standard §13.2.3.2).
    private static let declarationReach = 1_024
    /// How much is judged to be text or not (MIME Sniffing Standard §5.2).
    private static let header = 1_445

    /// - Parameter contentType: the one that the page has without scripts.
    init(_ page: [UInt8], contentType: String) {
        guard page.count <= Self.pageLimit else {
            self = .untouched(.tooLarge)
            return
        }
        guard Self.isHTML(contentType) else {
            self = .untouched(.notHTML)
            return
        }
        do throws(Fault) {
            let (encoding, start) = try Self.encoding(of: page, contentType)
            let place = try Self.place(in: page, from: start)
            // The page's own declaration may come too late for browsers now.
            let type = encoding.map { "\(contentType); charset=\($0)" } ?? contentType
            self = .put(at: place, contentType: type)
        } catch {
            self = .untouched(error.reason)
        }
    }

    /// Whether such an answer is a page at all.
    static func isHTML(_ contentType: String) -> Bool {
        HTTPHeaders.mediaType(contentType) == "text/html"
    }

    /// Whether an HTML file is a document of its own and no fragment: after white space and comments it begins with a doctype or
    /// with `<html`.
    static func isCompleteDocument(_ page: [UInt8]) -> Bool {
        let start = page.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var scanner = HTMLScanner(page[start...].prefix(reach))
        while true {
            let before = scanner.position
            switch scanner.next() {
            case .tag(let tag): return tag.name == "html" && !tag.isEnd
            case .text, .end: return false
            case .nothing:
                let token = page[before..<scanner.position].drop { HTMLScanner.isSpace($0) }
                if token.prefix(9).map({ $0 | 0x20 }).elementsEqual("<!doctype".utf8.map { $0 | 0x20 }) { return true }
            }
        }
    }

    private struct Fault: Error {
        let reason: Reason
    }

    // MARK: Encoding

    /// The encoding to name, nil where it is named already or all is ASCII; and where the text begins.
    private static func encoding(
        of page: [UInt8],
        _ contentType: String
    ) throws(Fault) -> (name: String?, start: Int) {
        if page.starts(with: [0xFE, 0xFF]) || page.starts(with: [0xFF, 0xFE]) { throw Fault(reason: .wideEncoding) }
        let hasMark = page.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasMark ? 3 : 0
        if page.prefix(header).contains(where: isBinary) { throw Fault(reason: .binary) }
        let given = contentType.split(separator: ";").dropFirst().map { $0.filter { $0 != " " }.lowercased() }
        if given.contains(where: { $0.hasPrefix("charset=utf-16") || $0.hasPrefix("charset=\"utf-16") }) {
            throw Fault(reason: .wideEncoding)
        }
        // A byte order mark goes before all else.
        if hasMark || given.contains(where: { $0.hasPrefix("charset=") }) { return (nil, start) }
        if let declared = declared(in: page[start...].prefix(declarationReach)) {
            guard isLabel(declared) else { throw Fault(reason: .undeclared) }
            // A page that says so in bytes of one each is not (HTML Standard §13.2.3.2).
            return (declared.hasPrefix("utf-16") ? "utf-8" : declared, start)
        }
        if page.contains(where: { $0 >= 0x80 }) { throw Fault(reason: .undeclared) }
        return (nil, start)
    }

    private static func isBinary(_ byte: UInt8) -> Bool {
        byte <= 0x08 || byte == 0x0B || (0x0E...0x1A).contains(byte) || (0x1C...0x1F).contains(byte)
    }

    private static func isLabel(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || "-_.:".utf8.contains($0)
            }
    }

    /// What the first `meta` that declares one says.
    private static func declared(in beginning: ArraySlice<UInt8>) -> String? {
        var scanner = HTMLScanner(beginning)
        while true {
            switch scanner.next() {
            case .end: return nil
            case .nothing: continue
            case .text: scanner.skipText()
            case .tag(let tag):
                guard tag.name == "meta", !tag.isEnd else { continue }
                if let charset = tag["charset"] { return charset.filter { !$0.isWhitespace } }
                if tag["http-equiv"] == "content-type", let content = tag["content"]?.rest(after: "charset=") {
                    return content.prefix { $0 != ";" }.filter { !"\"' ".contains($0) }
                }
            }
        }
    }

    // MARK: Place

    /// Right behind `<head>`, or where a head begins without it (HTML Standard §13.2.6.4.1 to §13.2.6.4.3).
    private static func place(in page: [UInt8], from start: Int) throws(Fault) -> Int {
        let seen = page[start...].prefix(reach)
        var scanner = HTMLScanner(seen)
        let place: Int
        search: while true {
            switch scanner.next() {
            case .nothing: continue
            case .text(let at):
                place = at
                break search
            case .end(let isClean):
                guard isClean, seen.endIndex == page.endIndex else { throw Fault(reason: .noPlace) }
                place = page.endIndex
                break search
            case .tag(let tag) where tag.isEnd && !["head", "body", "html", "br"].contains(tag.name):
                continue
            case .tag(let tag) where tag.name == "html" && !tag.isEnd:
                continue
            case .tag(let tag):
                place = tag.name == "head" && !tag.isEnd ? tag.bytes.upperBound : tag.bytes.lowerBound
                break search
            }
        }
        // An escape sequence before it may have changed what the bytes behind mean.
        if page[..<place].contains(0x1B) { throw Fault(reason: .statefulEncoding) }
        return place
    }
}

extension String {
    /// What stands behind the first `text`, if it stands there.
    fileprivate func rest(after text: String) -> Substring? {
        var rest = self[...]
        while !rest.isEmpty, !rest.hasPrefix(text) { rest = rest.dropFirst() }
        return rest.isEmpty ? nil : rest.dropFirst(text.count)
    }
}
