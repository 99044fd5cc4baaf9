import HTTPCore
import NIOHTTP1

/// The place in a page where scripts are inserted, and the page's content type after that.
///
/// Otherwise the reason why the page is not changed.
///
/// The scripts are the first elements of the head, before any code of the page. Nothing else of the page changes. In case of doubt,
/// the page is not changed.
package enum PagePlan: Equatable, Sendable {
    case put(at: Int, contentType: String)
    case untouched(Reason)

    /// The reason in words that follow `it`.
    package enum Reason: String, CaseIterable, Sendable {
        case tooLarge = "is larger than 4 MB"
        case notHTML = "is not sent as text/html"
        case wideEncoding = "is in UTF-16"
        case statefulEncoding = "is in an encoding with escape sequences"
        case binary = "is not text"
        case undeclared = "holds more than ASCII and declares no encoding"
        case noPlace = "has no place for them in its first 64 kB"
        /// One of the page's scripts is damaged. The page receives all scripts or none.
        case damagedScript = "has a script that is damaged"

        package func words(_ page: String) -> String { "the page \(page) was sent without its scripts: it \(rawValue)" }
    }

    /// The size limit.
    ///
    /// Larger pages are not loaded into memory.
    static let pageLimit = 4 * 1024 * 1024
    /// The number of bytes that are searched for the place.
    static let reach = 64 * 1024
    /// The number of bytes that browsers search for an encoding (HTML Standard §13.2.3.2).
    private static let declarationReach = 1_024
    /// The number of bytes that decide whether a file is text (MIME Sniffing Standard §5.2).
    private static let header = 1_445

    /// - Parameter contentType: The content type of the page without scripts.
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
            // After the insertion, the page's own declaration may be too late for browsers.
            let type = encoding.map { "\(contentType); charset=\($0)" } ?? contentType
            self = .put(at: place, contentType: type)
        } catch {
            self = .untouched(error.reason)
        }
    }

    /// Whether a response of this type is a page.
    static func isHTML(_ contentType: String) -> Bool {
        HTTPHeaders.mediaType(contentType) == "text/html"
    }

    /// Whether an HTML file is a complete document instead of a fragment.
    ///
    /// After white space and comments, a document begins with a doctype or with `<html`.
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

    /// Returns the encoding to declare, and the start of the text.
    ///
    /// The encoding is nil if it is already declared, or if all bytes are ASCII.
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
        // A byte order mark overrides all other declarations.
        if hasMark || given.contains(where: { $0.hasPrefix("charset=") }) { return (nil, start) }
        if let declared = declared(in: page[start...].prefix(declarationReach)) {
            guard isLabel(declared) else { throw Fault(reason: .undeclared) }
            // A page that declares this in single-byte text is UTF-8 (HTML Standard §13.2.3.2).
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

    /// Returns the encoding that the first declaring `meta` contains.
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

    /// Returns the position directly after `<head>`, or where a head begins without this tag (HTML Standard §13.2.6.4.1 to
    /// §13.2.6.4.3).
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
        // An earlier escape sequence may have changed the meaning of the following bytes.
        if page[..<place].contains(0x1B) { throw Fault(reason: .statefulEncoding) }
        return place
    }
}

extension String {
    /// Returns the text after the first occurrence of `text`, or nil if there is none.
    fileprivate func rest(after text: String) -> Substring? {
        var rest = self[...]
        while !rest.isEmpty, !rest.hasPrefix(text) { rest = rest.dropFirst() }
        return rest.isEmpty ? nil : rest.dropFirst(text.count)
    }
}
