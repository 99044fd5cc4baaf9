/// A YAML text as libyaml reads it: its nodes, each with the place where it begins.
///
/// An alias is the node that it names, so a small text may be a huge tree: whoever walks it has limits of its own.
package struct YAMLTree: Sendable {
    /// Where something begins; the first line and the first column are 1.
    package struct Mark: Hashable, Sendable {
        package let line: Int
        package let column: Int

        package init(line: Int, column: Int) {
            self.line = line
            self.column = column
        }
    }

    package struct Scalar: Hashable, Sendable {
        package let text: String
        /// Without quotes, and in no block of its own.
        package let isPlain: Bool
        /// Whether a tag stands before it, such as `!!str`.
        package let hasTag: Bool

        package init(text: String, isPlain: Bool, hasTag: Bool) {
            self.text = text
            self.isPlain = isPlain
            self.hasTag = hasTag
        }
    }

    package enum Content: Sendable {
        case scalar(Scalar)
        case sequence([Int])
        case mapping([(key: Int, value: Int)])
    }

    package struct Node: Sendable {
        package let content: Content
        package let mark: Mark
    }

    private let nodes: [Node]
    /// Nil for a text of comments alone.
    package let root: Int?

    init(nodes: [Node], root: Int?) {
        self.nodes = nodes
        self.root = root
    }

    package subscript(index: Int) -> Node { nodes[index] }
}

/// Why a text is no YAML that is taken.
package enum YAMLFault: Error, Equatable, Sendable {
    /// In libyaml's words.
    case syntax(String, YAMLTree.Mark)
    /// A byte or a character that stands in no YAML.
    case unreadable(String)
    /// Of one mapping, in order; where the first of them stands for the second time.
    case duplicateKeys([String], YAMLTree.Mark)
    case noMemory
}
