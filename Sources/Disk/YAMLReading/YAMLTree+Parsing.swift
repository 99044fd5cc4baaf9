import CYAML

extension YAMLTree {
    /// The maximum nesting depth.
    ///
    /// libyaml 0.2.5 has no limit of its own, and examines all open collections for each token.
    private static let deepest = 1_000

    /// Reads the only document of a text.
    package init(_ text: String) throws(YAMLFault) {
        let parser = try YAMLEvents(text)
        var builder = Builder()
        while let event = try parser.next() {
            if try builder.take(event) { break }
        }
        self.init(nodes: builder.nodes, root: builder.root)
    }

    /// Builds nodes from events.
    ///
    /// A node is added after all nodes below it.
    private struct Builder {
        private enum Kind {
            case sequence, mapping
        }

        private struct Open {
            let kind: Kind
            let mark: Mark
            let anchor: String?
            var children: [Int] = []
        }

        private(set) var nodes: [Node] = []
        private(set) var root: Int?
        private var open: [Open] = []
        private var anchors: [String: Int] = [:]
        private var hasDocument = false

        /// - Returns: whether this was the last event.
        mutating func take(_ event: YAMLEvents.Event) throws(YAMLFault) -> Bool {
            switch event.kind {
            case .nothing: break
            case .document:
                guard !hasDocument else { throw .syntax("but found another document", event.mark) }
                hasDocument = true
            case .alias(let name):
                guard let node = anchors[name] else { throw .syntax("found undefined alias", event.mark) }
                put(node)
            case .scalar(let scalar, let anchor): add(Node(content: .scalar(scalar), mark: event.mark), anchor)
            case .sequenceStart(let anchor): try begin(.sequence, event.mark, anchor)
            case .mappingStart(let anchor): try begin(.mapping, event.mark, anchor)
            case .collectionEnd:
                guard let done = open.popLast() else { break }
                add(Node(content: try content(of: done), mark: done.mark), done.anchor)
            case .end: return true
            }
            return false
        }

        private mutating func begin(_ kind: Kind, _ mark: Mark, _ anchor: String?) throws(YAMLFault) {
            guard open.count < YAMLTree.deepest else { throw .syntax("is nested too deep", mark) }
            open.append(Open(kind: kind, mark: mark, anchor: anchor))
        }

        private func content(of done: Open) throws(YAMLFault) -> Content {
            guard done.kind == .mapping else { return .sequence(done.children) }
            let pairs = stride(from: 0, to: done.children.count - 1, by: 2).map {
                (key: done.children[$0], value: done.children[$0 + 1])
            }
            var seen: Set<[UInt8]> = []
            var twice: [(name: String, mark: Mark)] = []
            for (key, _) in pairs {
                guard case .scalar(let name) = nodes[key].content else { continue }
                if !seen.insert(Array(name.text.utf8)).inserted { twice.append((name.text, nodes[key].mark)) }
            }
            if let first = twice.first { throw .duplicateKeys(Set(twice.map(\.name)).sorted(), first.mark) }
            return .mapping(pairs)
        }

        private mutating func add(_ node: Node, _ anchor: String?) {
            nodes.append(node)
            if let anchor { anchors[anchor] = nodes.count - 1 }
            put(nodes.count - 1)
        }

        private mutating func put(_ node: Int) {
            if open.isEmpty { root = node } else { open[open.count - 1].children.append(node) }
        }
    }
}
