/// What the first answer in some bytes says, read anew by RFC 9112 §2.2, §6.3 and §7.1: the judge of what a client takes.
///
/// Interim answers are passed over.
enum AnswerReading: Equatable {
    case whole(status: Int, body: [UInt8])
    /// The connection said less than that.
    case incomplete
    case malformed

    init(_ bytes: [UInt8], isClosed: Bool) {
        var text = Cursor(rest: bytes[...])
        while let next = text.rest.first, next == 13 || next == 10 { text.rest.removeFirst() }
        do throws(Fault) {
            while true {
                let (status, fields) = try text.head()
                if (100..<200).contains(status), status != 101 { continue }
                self = .whole(status: status, body: try text.body(status, fields, isClosed))
                return
            }
        } catch { self = error == .incomplete ? .incomplete : .malformed }
    }

    fileprivate enum Fault: Error {
        case incomplete
        case malformed
    }
}

private struct Cursor {
    var rest: ArraySlice<UInt8>

    mutating func line() throws(AnswerReading.Fault) -> String {
        guard let end = rest.firstIndex(of: 10) else { throw .incomplete }
        var line = rest[..<end]
        rest = rest[(end + 1)...]
        if line.last == 13 { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    mutating func head() throws(AnswerReading.Fault) -> (Int, [(name: String, value: String)]) {
        let first = try line()
        guard let match = first.wholeMatch(of: #/HTTP/1\.[0-9] ([0-9]{3})(?: .*)?/#.dotMatchesNewlines()),
            let status = Int(match.1)
        else { throw .malformed }
        var fields: [(name: String, value: String)] = []
        while true {
            let line = try line()
            if line.isEmpty { return (status, fields) }
            if line.first == " " || line.first == "\t", let last = fields.indices.last {
                fields[last].value += " " + line.trimmed
                continue
            }
            guard let colon = line.firstIndex(of: ":") else { throw .malformed }
            fields.append((line[..<colon].trimmed.lowercased(), line[line.index(after: colon)...].trimmed))
        }
    }

    mutating func body(
        _ status: Int,
        _ fields: [(name: String, value: String)],
        _ isClosed: Bool
    ) throws(AnswerReading.Fault) -> [UInt8] {
        if status < 200 || status == 204 || status == 304 { return [] }
        let codings = fields.filter { $0.name == "transfer-encoding" }.map(\.value)
        let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw .malformed }
            let last = codings.joined(separator: ",").split(separator: ",").last.map { $0.trimmed.lowercased() }
            if last == "chunked" { return try chunks() }
        } else if !lengths.isEmpty {
            guard lengths.count == 1, let length = Int(lengths[0]), length >= 0,
                lengths[0].utf8.allSatisfy({ (48...57).contains($0) })
            else { throw .malformed }
            guard rest.count >= length else { throw .incomplete }
            return Array(rest.prefix(length))
        }
        guard isClosed else { throw .incomplete }
        return Array(rest)
    }

    private mutating func chunks() throws(AnswerReading.Fault) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            let line = try line()
            let digits = line.prefix { $0.isASCII && $0.isHexDigit }
            guard let size = Int(digits, radix: 16) else { throw .malformed }
            let mark = line.dropFirst(digits.count).trimmed
            guard mark.isEmpty || mark.first == ";" else { throw .malformed }
            if size == 0 {
                while true {
                    let trailer = try self.line()
                    if trailer.isEmpty { return body }
                }
            }
            guard rest.count >= size else { throw .incomplete }
            body += rest.prefix(size)
            rest = rest.dropFirst(size)
            guard try self.line().isEmpty else { throw .malformed }
        }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let bytes = utf8.drop { $0 == 32 || $0 == 9 }
        return String(decoding: bytes.reversed().drop { $0 == 32 || $0 == 9 }.reversed(), as: UTF8.self)
    }
}
