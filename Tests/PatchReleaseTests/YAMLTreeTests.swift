import Testing
import YAMLReading

@Suite("A YAML text")
struct YAMLTreeTests {
    private func scalars(_ text: String) throws -> [String] {
        let tree = try YAMLTree(text)
        func below(_ node: Int) -> [String] {
            switch tree[node].content {
            case .scalar(let scalar): ["\(scalar.text)@\(tree[node].mark.line):\(tree[node].mark.column)"]
            case .sequence(let elements): elements.flatMap(below)
            case .mapping(let pairs): pairs.flatMap { below($0.key) + below($0.value) }
            }
        }
        return tree.root.map(below) ?? []
    }

    @Test func `is its nodes, each where it begins`() throws {
        #expect(try scalars("a: 1\nb:\n  - x\n  - 'y z'\n") == ["a@1:1", "1@1:4", "b@2:1", "x@3:5", "y z@4:5"])
        #expect(try scalars("# nothing\n") == [])
        #expect(try scalars("---\n") == ["@2:1"])
    }

    @Test func `says of each value whether it was quoted or tagged`() throws {
        let tree = try YAMLTree("[a, 'a', !!str a, |\n a\n]".replacing("|\n a\n", with: "\"a\""))
        guard let root = tree.root, case .sequence(let elements) = tree[root].content else {
            Issue.record("a sequence should be there")
            return
        }
        #expect(
            elements.map { tree[$0].content.scalar } == [
                .init(text: "a", isPlain: true, hasTag: false), .init(text: "a", isPlain: false, hasTag: false),
                .init(text: "a", isPlain: true, hasTag: true), .init(text: "a", isPlain: false, hasTag: false),
            ]
        )
    }

    @Test func `has in place of an alias what it names, and names nothing that is not whole yet`() throws {
        #expect(try scalars("a: &x [1, 2]\nb: *x\n") == ["a@1:1", "1@1:8", "2@1:11", "b@2:1", "1@1:8", "2@1:11"])
        #expect(throws: fault("found undefined alias", 1, 8)) { try YAMLTree("a: &x [*x]") }
        #expect(throws: fault("found undefined alias", 1, 4)) { try YAMLTree("a: *y") }
    }

    @Test func `is one document`() {
        #expect(throws: fault("but found another document", 2, 1)) { try YAMLTree("a: 1\n---\nb: 2\n") }
    }

    @Test func `has no key twice in one mapping, and tells where`() {
        #expect(throws: YAMLFault.duplicateKeys(["a", "b"], YAMLTree.Mark(line: 3, column: 1))) {
            try YAMLTree("a: 1\nb: 1\nb: 2\n'a': 2\n")
        }
    }

    @Test func `ends at what no YAML has, with libyaml's words`() {
        #expect(throws: fault("did not find expected ',' or ']'", 2, 1)) { try YAMLTree("[a") }
        #expect(throws: YAMLFault.unreadable("control characters are not allowed")) { try YAMLTree("a: \u{1}") }
    }

    @Test func `is at most 1,000 collections deep, however long it is`() throws {
        #expect(try YAMLTree(String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)).root != nil)
        #expect(throws: fault("is nested too deep", 1, 1_001)) {
            try YAMLTree(String(repeating: "[", count: 1_000_000))
        }
    }

    private func fault(_ problem: String, _ line: Int, _ column: Int) -> YAMLFault {
        .syntax(problem, YAMLTree.Mark(line: line, column: column))
    }
}

extension YAMLTree.Content {
    fileprivate var scalar: YAMLTree.Scalar? { if case .scalar(let scalar) = self { scalar } else { nil } }
}

@Suite("A YAML file of settings")
struct YAMLFileTests {
    @Test func `has its keys with their lines, and knows a key without a value`() throws {
        let file = try YAMLFile(Array("# devices\nport: 80\nhost:\nname: '~'\n".utf8))
        let pairs = try file.pairs(of: try #require(file.tree.root))
        #expect(pairs.map { "\($0.line) \($0.key)" } == ["2 port", "3 host", "4 name"])
        #expect(pairs.map { file.text($0.value) } == ["80", "", "~"])
        #expect(pairs.map { file.isUnset($0.value) } == [false, true, false])
    }

    @Test(
        arguments: [
            ("a: 1\na: 2", "2 sets 'a' twice"), ("[a", "2 is not YAML: did not find expected ',' or ']'"),
            ("\n- a", "2 must be a mapping: name: value"), ("a: 1\n[b]: 2", "2 must have plain text as keys"),
            ("a: \u{1}", "0 is not YAML"),
        ]
    )
    func `is refused with the line and the rule that it breaks`(text: String, fault: String) {
        #expect(Self.fault(Array(text.utf8)) == fault)
    }

    @Test func `is refused if it is not UTF-8`() {
        #expect(Self.fault([0x61, 0x3A, 0x20, 0xFF]) == "0 is not UTF-8")
    }

    private static func fault(_ bytes: [UInt8]) -> String? {
        do throws(YAMLFile.Fault) {
            let file = try YAMLFile(bytes)
            if let root = file.tree.root { _ = try file.pairs(of: root) }
            return nil
        } catch { return "\(error.line ?? 0) \(error.rule)" }
    }
}
