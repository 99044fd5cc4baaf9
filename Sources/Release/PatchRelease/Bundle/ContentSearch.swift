/// Searches a file's bytes piece by piece for secrets, and for code that checks the name of its host or confirms a version.
///
/// Memory use is independent of the file's size: a match is judged by ``behind`` and ``ahead`` bytes around it.
struct ContentSearch {
    /// The kinds of findings besides private keys and tokens.
    struct Interests: OptionSet {
        let rawValue: Int

        /// Code: comparisons of the host's name with `localhost`, and calls of the page API.
        static let code = Interests(rawValue: 1)
        /// The app's source code in a source map.
        static let sources = Interests(rawValue: 2)
        /// Links of a page to web app manifests.
        static let links = Interests(rawValue: 4)
    }

    /// The parts of a call that confirms a version.
    struct Confirmation: OptionSet, Sendable {
        let rawValue: Int

        /// The page API, under any name but that of its script, `/__patchline/launch.js`.
        static let api = Confirmation(rawValue: 1)
        /// The word `confirm`.
        static let call = Confirmation(rawValue: 2)
        /// Both parts, or a name that only the page API has.
        static let whole: Confirmation = [.api, .call]
    }

    struct Findings: Equatable, Sendable {
        /// The first secret.
        var secret: SecretKind?
        /// Whether the file contains a Google browser key, which its owner should restrict.
        var hasBrowserKey = false
        /// Offsets of comparisons of the host's name, in bytes from the file's start.
        var hostNames: [Int] = []
        var hasSources = false
        var confirmation = Confirmation()
        var links = PageLinks()
        /// Whether the file begins like a JSON object.
        var isObject = false
        /// The first bytes, ``TarBlock/size`` at most.
        var head: [UInt8] = []
    }

    private static let ahead = 4_096
    private static let behind = 4_096
    private static let mostHostNames = 100
    /// A limit, because each possible link costs a look at the text around it.
    private static let mostLinkLooks = 2_000

    private enum Wanted: Sendable {
        case secret(SecretText.Mark)
        case browserKey, hostName, sources, manifestLink, base, pageAPI, confirm, startup

        var text: StaticString {
            switch self {
            case .secret(let mark): mark.text
            case .browserKey: "AIza"
            case .hostName: "localhost"
            case .sources: "sourcesContent"
            case .manifestLink: "manifest"
            case .base: "<base"
            case .pageAPI: "patchline"
            case .confirm: "confirm"
            case .startup: "startupDidComplete"
            }
        }
    }

    private struct Table: Sendable {
        let search: PairSearch
        let wanted: [Int: [(text: StaticString, pair: Int, wanted: Wanted)]]

        init(_ all: [(text: StaticString, pair: Int, wanted: Wanted)]) {
            let pairs = all.map { one in unsafe (one.text.utf8Start[one.pair], one.text.utf8Start[one.pair + 1]) }
            search = PairSearch(pairs)
            var wanted: [Int: [(text: StaticString, pair: Int, wanted: Wanted)]] = [:]
            for (one, pair) in zip(all, pairs) { wanted[PairSearch.number(pair.0, pair.1), default: []].append(one) }
            self.wanted = wanted
        }
    }

    private static let secrets: [(text: StaticString, pair: Int, wanted: Wanted)] =
        SecretText.marks.map { ($0.text, $0.pair, .secret($0)) } + [("AIza", 1, .browserKey)]
    private static let hosts: [(text: StaticString, pair: Int, wanted: Wanted)] =
        [
            ("localhost", 4, .hostName), ("127.0.0.1", 2, .hostName), ("127\\.0\\.0\\.1", 2, .hostName),
            ("^127(", 0, .hostName),
        ]
    private static let confirmations: [(text: StaticString, pair: Int, wanted: Wanted)] =
        [("patchline", 4, .pageAPI), ("confirm", 2, .confirm), ("startupDidComplete", 6, .startup)]
    private static let plainTable = Table(secrets)
    private static let scriptTable = Table(secrets + hosts + confirmations)
    private static let pageTable = Table(
        secrets + hosts + confirmations + [("manifest", 4, .manifestLink), ("<base", 0, .base)]
    )
    private static let mapTable = Table(secrets + [("sourcesContent", 6, .sources)])

    private let table: Table
    private(set) var findings = Findings()
    /// Nil until the first piece arrives.
    private var isWide: Bool?
    private var head: [UInt8] = []
    private var size = 0
    private var buffer: [UInt8] = []
    /// The offset of the buffer's first byte in the searched bytes.
    private var offset = 0
    private var searched = 0
    private var linkLooks = 0

    init(_ interests: Interests) {
        table =
            interests.contains(.links)
            ? Self.pageTable
            : interests.contains(.code)
                ? Self.scriptTable : interests.contains(.sources) ? Self.mapTable : Self.plainTable
    }

    /// Adds the next bytes of the file.
    mutating func take(_ bytes: [UInt8]) {
        if head.count < KeyContainer.head { head += bytes.prefix(KeyContainer.head - head.count) }
        let isWide = isWide ?? Self.isWide(bytes)
        self.isWide = isWide
        size += bytes.count
        // In UTF-16 and UTF-32, ASCII text has zero bytes in between.
        buffer += isWide ? bytes.filter { $0 != 0 } : bytes
        search(before: buffer.count - Self.ahead)
        let done = max(0, searched - Self.behind)
        guard done > 256 * 1_024 else { return }
        buffer.removeFirst(done)
        offset += done
        searched -= done
    }

    /// Returns the findings of all bytes added so far.
    mutating func finish() -> Findings {
        search(before: buffer.count)
        if findings.secret == nil, let container = KeyContainer.of(head, size: size) {
            findings.secret = .privateKey(container)
        }
        let start = head.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
        findings.head = Array(head.prefix(TarBlock.size))
        findings.isObject = start.first == UInt8(ascii: "{")
        return findings
    }

    private mutating func search(before end: Int) {
        guard end > searched else { return }
        let text = ByteText(bytes: buffer)
        var place = searched
        while let pair = table.search.next(in: buffer, from: place, before: end + 32) {
            place = pair + 1
            for (found, within, wanted) in table.wanted[PairSearch.number(buffer[pair], buffer[pair + 1])] ?? [] {
                let start = pair - within
                guard start >= searched, start < end, text.holds(found, at: start) else { continue }
                note(wanted, in: text, at: start)
            }
        }
        searched = end
    }

    private mutating func note(_ wanted: Wanted, in text: ByteText, at place: Int) {
        switch wanted {
        case .secret(let mark): if findings.secret == nil { findings.secret = mark.judge(text, place) }
        case .browserKey:
            guard text.count(of: .base64URL, from: place + 4) == 35, text.isRandom(place + 4..<place + 39) else {
                return
            }
            findings.hasBrowserKey = true
        case .sources: findings.hasSources = true
        case .pageAPI:
            // A page that only includes the script does not call it.
            let isInclusion = text.holds("__", at: place - 2) && text.holds("/launch.js", at: place + 9)
            if !isInclusion { findings.confirmation.insert(.api) }
        case .confirm: findings.confirmation.insert(.call)
        case .startup: findings.confirmation = .whole
        case .manifestLink:
            linkLooks += 1
            guard linkLooks <= Self.mostLinkLooks, findings.links.manifests.count < PageLinks.most else { return }
            if let href = LinkText.manifest(in: text, at: place) { findings.links.manifests.append(href) }
        case .base:
            linkLooks += 1
            guard linkLooks <= Self.mostLinkLooks, findings.links.base == nil else { return }
            findings.links.base = LinkText.base(in: text, at: place)
        case .hostName:
            guard findings.hostNames.count < Self.mostHostNames, HostNameText.isCompared(in: text, at: place) else {
                return
            }
            findings.hostNames.append(offset + place)
        }
    }

    /// Detects UTF-16 or UTF-32 by a byte order mark, or by a zero in every other byte at the beginning.
    private static func isWide(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.starts(with: [0, 0, 0xFE, 0xFF])
        {
            return true
        }
        let start = bytes.prefix(512)
        guard start.count >= 16 else { return false }
        let zeros = start.indices.filter { start[$0] == 0 }
        let even = zeros.count { $0.isMultiple(of: 2) }
        return max(even, zeros.count - even) * 5 >= start.count * 2 && min(even, zeros.count - even) * 20 <= start.count
    }
}

/// Detects code that compares the host's name with `localhost`.
enum HostNameText {
    private static let reach = 3_000

    /// - Parameter place: The position of `localhost`, `127.0.0.1` or a regular expression for it.
    static func isCompared(in text: ByteText, at place: Int) -> Bool {
        let near = place - reach..<place + reach
        guard text.holds("hostname", in: near) || text.holds("location.host", in: near) else { return false }
        if text.holds("^127(", at: place) { return true }
        let length = text.holds("localhost", at: place) || text.holds("127.0.0.1", at: place) ? 9 : 12
        let (before, after) = (text[place - 1], text[place + length])
        guard let quote = before, quote == after, [0x22, 0x27, 0x60].contains(quote) else {
            return isInExpression(text, place, behind: place + length)
        }
        return isOperand(text, from: place - 1, to: place + length + 1)
    }

    /// Whether a quoted text is an operand of a comparison.
    private static func isOperand(_ text: ByteText, from start: Int, to end: Int) -> Bool {
        let (left, right) = (text.skipSpacesBack(from: start), text.skipSpaces(from: end))
        if text[left - 1] == UInt8(ascii: "="), [UInt8(ascii: "="), UInt8(ascii: "!")].contains(text[left - 2]) {
            return true
        }
        if text.holds("==", at: right) || text.holds("!=", at: right) { return true }
        if text.holds("case", at: left - 4) { return true }
        for call: StaticString in ["includes(", "startsWith(", "endsWith(", "indexOf(", "equals(", ".has("]
        where text.holds(call, at: left - call.utf8CodeUnitCount) { return true }
        // The text may be an element of a list, such as in `[…].includes(name)`.
        guard let close = (right..<right + 200).first(where: { text[$0] == UInt8(ascii: "]") }) else { return false }
        let isList = (right..<close).allSatisfy { text[$0] != UInt8(ascii: ";") && text[$0] != UInt8(ascii: "(") }
        let call = text[close + 1] == UInt8(ascii: ")") ? close + 2 : close + 1
        return isList
            && [".includes(", ".indexOf(", ".some(", ".has("].contains { (name: StaticString) in
                text.holds(name, at: call)
            }
    }

    /// Whether the text is in a regular expression, not in a URL or a sentence.
    private static func isInExpression(_ text: ByteText, _ place: Int, behind end: Int) -> Bool {
        func isPart(_ byte: UInt8?) -> Bool {
            guard let byte else { return false }
            return byte > 0x20 && ![0x22, 0x27, 0x60, UInt8(ascii: ";"), UInt8(ascii: ",")].contains(byte)
        }
        var left = place - 1
        while left > place - 80, isPart(text[left]), text[left] != UInt8(ascii: "/") { left -= 1 }
        guard text[left] == UInt8(ascii: "/"), text[left - 1] != UInt8(ascii: "/"), text[left - 1] != UInt8(ascii: ":")
        else {
            return false
        }
        var right = end
        while right < end + 160, isPart(text[right]), text[right] != UInt8(ascii: "/") { right += 1 }
        guard text[right] == UInt8(ascii: "/") else { return false }
        right += 1 + text.count(of: .alphanumeric, from: right + 1)
        let isTested = text.holds(".test(", at: right) || text.holds(".exec(", at: right)
        let opened = text.skipSpacesBack(from: left)
        return isTested || text.holds("match(", at: opened - 6) || text.holds("search(", at: opened - 7)
    }
}
