/// A YAML text as libyaml reads it: its nodes with their positions.
///
/// An alias is the same node as its anchor, so a small text may be a huge tree. Code that traverses it needs its own limits.
package struct YAMLTree: Sendable {
    /// The position of a node.
    ///
    /// Lines and columns are counted from 1.
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
        /// Whether the text has neither quotes nor a block style.
        package let isPlain: Bool
        /// Whether the text has a tag, such as `!!str`.
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
    /// Nil for a text that contains only comments.
    package let root: Int?

    init(nodes: [Node], root: Int?) {
        self.nodes = nodes
        self.root = root
    }

    package subscript(index: Int) -> Node { nodes[index] }
}

/// The reason why a text is not accepted as YAML.
package enum YAMLFault: Error, Equatable, Sendable {
    /// libyaml's message.
    case syntax(String, YAMLTree.Mark)
    /// A byte or character that is not allowed in YAML.
    case unreadable(String)
    /// All duplicate keys of one mapping in order, and the position of the first duplicate.
    case duplicateKeys([String], YAMLTree.Mark)
    case noMemory
}
