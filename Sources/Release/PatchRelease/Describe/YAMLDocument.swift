import PatchFormat
import YAMLReading

/// A YAML file as JSON values, with the line of each field.
///
/// Uses the core schema of YAML 1.2: only `true` and `false` are booleans (not `on` or `yes`), numbers are decimal integers. Text
/// that looks like another number is rejected with a hint to quote it, because `1.10` is not the text `1.10`.
struct YAMLDocument {
    private static let maximumDepth = 16
    private static let maximumNodes = 500_000

    let json: JSON
    /// The line by field, such as `patches[0].version`.
    ///
    /// The document itself is the empty field.
    let lines: [String: Int]
    /// Errors of values that could not be read.
    ///
    /// Each is replaced by `null`.
    let mistakes: [DescriptionError]

    /// - Throws: an error that prevents the document from being read at all.
    init(_ bytes: [UInt8], named file: String) throws(DescriptionError) {
        let text: String
        do throws(FileText.Problem) { text = try FileText.decode(bytes) } catch {
            throw DescriptionError(file, rule: error.rawValue)
        }
        let tree: YAMLTree
        do throws(YAMLFault) { tree = try YAMLTree(text) } catch {
            throw YAMLErrorText.error(error, in: text, of: file)
        }
        guard let root = tree.root else { throw DescriptionError(file, rule: "is empty") }
        var reader = Reader(file: file, tree: tree)
        json = try reader.value(root, at: "", depth: 0)
        lines = reader.lines
        mistakes = reader.mistakes
    }

    private struct Reader {
        let file: String
        let tree: YAMLTree
        var lines: [String: Int] = [:]
        var mistakes: [DescriptionError] = []
        var nodes = 0

        mutating func value(_ index: Int, at field: String, depth: Int) throws(DescriptionError) -> JSON {
            let node = tree[index]
            nodes += 1
            // Aliases can expand a small file into a huge document.
            guard depth <= maximumDepth, nodes <= maximumNodes else {
                throw DescriptionError(
                    file,
                    line: node.mark.line,
                    field: field,
                    rule: "is nested too deep or too large"
                )
            }
            lines[field] = node.mark.line
            switch node.content {
            case .scalar(let scalar):
                do throws(DescriptionError) { return try value(of: scalar, on: node.mark.line, at: field) } catch {
                    mistakes.append(error)
                    return .null
                }
            case .mapping(let pairs): return try object(pairs, at: field, depth: depth)
            case .sequence(let elements):
                var values: [JSON] = []
                for (number, element) in elements.enumerated() {
                    values.append(try value(element, at: "\(field)[\(number)]", depth: depth + 1))
                }
                return .array(values)
            }
        }

        private mutating func object(
            _ pairs: [(key: Int, value: Int)],
            at field: String,
            depth: Int
        ) throws(DescriptionError) -> JSON {
            var members: [(String, JSON)] = []
            for (key, element) in pairs {
                let line = tree[key].mark.line
                guard case .scalar(let name) = tree[key].content else {
                    throw DescriptionError(file, line: line, field: field, rule: "must have plain text as keys")
                }
                let inner = field.isEmpty ? name.text : "\(field).\(name.text)"
                members.append((name.text, try value(element, at: inner, depth: depth + 1)))
                lines[inner] = line
            }
            return .object(JSONObject(members))
        }

        private func value(
            of scalar: YAMLTree.Scalar,
            on line: Int,
            at field: String
        ) throws(DescriptionError) -> JSON {
            func broken(_ rule: String) -> DescriptionError {
                DescriptionError(file, line: line, field: field, rule: rule)
            }
            let text = scalar.text
            guard scalar.isPlain else { return .text(text) }
            guard !scalar.hasTag else { throw broken("has a YAML tag; write plain values") }
            switch text {
            case "true": return .bool(true)
            case "false": return .bool(false)
            case "", "~", "null": return .null
            default: break
            }
            if YAMLNumber.isInteger(text) {
                guard let number = Int(text), number.magnitude < 1 << 53 else { throw broken("is too large a number") }
                return .integer(number)
            }
            if YAMLNumber.looksLikeOne(text) {
                throw broken(
                    "is not a whole number; if it is meant as text, put it in quotes: \"\(text)\""
                )
            }
            return .text(text)
        }
    }
}

/// Plain texts that a YAML reader may parse as numbers.
enum YAMLNumber {
    static func isInteger(_ text: String) -> Bool {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        return !digits.isEmpty && digits.utf8.allSatisfy(isDigit) && (digits.utf8.count == 1 || digits.first != "0")
    }

    /// Whether any YAML reader would parse it as a number: `1.10`, `1e3`, `0x10`, `007`, `1_000`, `.inf`.
    static func looksLikeOne(_ text: String) -> Bool {
        let bare = text.drop { $0 == "-" || $0 == "+" }
        if [".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"].contains(String(bare)) { return true }
        if bare.hasPrefix("0x") || bare.hasPrefix("0o") { return bare.dropFirst(2).allSatisfy(\.isHexDigit) }
        guard let first = bare.utf8.first, isDigit(first) || first == UInt8(ascii: ".") else { return false }
        return Double(String(bare.filter { $0 != "_" })) != nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
