import PatchFormat

/// A YAML file whose mappings have text keys: settings, or the description of a fleet.
package struct YAMLFile: Sendable {
    /// A rule that the file breaks.
    package struct Fault: Error, Equatable, Sendable {
        /// The line number from 1; nil for the file as a whole.
        package let line: Int?
        /// The text that follows the name of the file or of the value.
        package let rule: String
    }

    package struct Pair: Sendable {
        package let key: String
        /// The line of the key.
        package let line: Int
        package let value: Int
    }

    package let tree: YAMLTree

    /// - Parameter bytes: UTF-8, or UTF-16 with a byte order mark.
    package init(_ bytes: [UInt8]) throws(Fault) {
        let text: String
        do throws(FileText.Problem) { text = try FileText.decode(bytes) } catch {
            throw Fault(line: nil, rule: error.rawValue)
        }
        do throws(YAMLFault) { tree = try YAMLTree(text) } catch {
            switch error {
            case .syntax(let problem, let mark): throw Fault(line: mark.line, rule: "is not YAML: \(problem)")
            case .duplicateKeys(let names, let mark):
                let keys = names.map { "'\($0)'" }.joined(separator: ", ")
                throw Fault(line: mark.line, rule: "sets \(keys) twice")
            case .unreadable, .noMemory: throw Fault(line: nil, rule: "is not YAML")
            }
        }
    }

    /// The keys and values of a mapping, in their order.
    package func pairs(of node: Int) throws(Fault) -> [Pair] {
        guard case .mapping(let pairs) = tree[node].content else {
            throw Fault(line: tree[node].mark.line, rule: "must be a mapping: name: value")
        }
        return try pairs.map { key, value throws(Fault) in
            let line = tree[key].mark.line
            guard case .scalar(let scalar) = tree[key].content else {
                throw Fault(line: line, rule: "must have plain text as keys")
            }
            return Pair(key: scalar.text, line: line, value: value)
        }
    }

    /// The text of a scalar, or nil for a list or a mapping.
    package func text(_ node: Int) -> String? {
        if case .scalar(let scalar) = tree[node].content { scalar.text } else { nil }
    }

    /// Whether a node is a key's missing value: nothing, `~` or `null`.
    package func isUnset(_ node: Int) -> Bool {
        if case .scalar(let scalar) = tree[node].content {
            scalar.isPlain && ["", "~", "null"].contains(scalar.text)
        } else {
            false
        }
    }
}
