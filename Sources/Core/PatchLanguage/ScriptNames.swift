/// A name in a script that no host interface contains.
///
/// It may be misspelled.
package struct UnknownName: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A required class that is neither exposed nor defined by a script.
        case type
        /// The script defines a class of this name itself, because none is exposed.
        case newType
        /// The exposed type has no such method, so the script adds a new one.
        case method(of: String)
        /// `ORIGname` without a method of that name in the exposed type.
        case original(of: String)
    }

    package let kind: Kind
    package let name: String
    /// The line of the name, from 1.
    package let line: Int
}

extension UnknownName: CustomStringConvertible {
    package var description: String {
        switch kind {
        case .type: "line \(line): no host exposes '\(name)'"
        case .newType: "line \(line): no host exposes '\(name)': it is a new class"
        case .method(let type): "line \(line): \(type) of the host has no '\(name)': it is a new method"
        case .original(let type): "line \(line): \(type) of the host has no '\(name)', so ORIG\(name) is undefined"
        }
    }
}

/// The names of classes and methods that a script uses from its host.
package struct ScriptNames: Equatable, Sendable {
    struct Use: Equatable, Sendable {
        let name: String
        let line: Int
    }

    struct Definition: Equatable, Sendable {
        let type: Use
        var methods: [Use] = []
        var statics: [Use] = []
        var originals: [Use] = []
    }

    private(set) var required: [Use] = []
    private(set) var definitions: [Definition] = []
    private let tokens: [ScriptTokens.Token]

    package init(_ script: String) {
        tokens = ScriptTokens(script).tokens
        for at in tokens.indices {
            guard let (first, next) = textOfCall(at) else { continue }
            switch tokens[at].kind {
            case .name("require"):
                required += first.split(separator: ",").map {
                    Use(name: $0.trimmingBlanks, line: tokens[at].line)
                }
            case .name("defineClass"): define(first, at: at, from: next)
            default: break
            }
        }
    }

    /// The names that all of `interfaces` lack.
    ///
    /// `others` are the scripts that run beside this one.
    package func unknown(to interfaces: [HostInterface], besides others: [ScriptNames] = []) -> [UnknownName] {
        let made = Set((others + [self]).flatMap(\.definitions).map(\.type.name))
        var unknown: [UnknownName] = []
        for use in required where !made.contains(use.name) && !interfaces.contains(where: { $0[use.name] != nil }) {
            unknown.append(UnknownName(kind: .type, name: use.name, line: use.line))
        }
        for definition in definitions {
            let name = definition.type.name
            let known = interfaces.filter { $0[name] != nil }
            guard !known.isEmpty else {
                unknown.append(UnknownName(kind: .newType, name: name, line: definition.type.line))
                continue
            }
            let methods = Set(known.flatMap { $0.methods(of: name, \.methods) })
            let statics = Set(known.flatMap { $0.methods(of: name, \.statics) })
            let fresh =
                definition.methods.filter { !methods.contains($0.name) }
                + definition.statics.filter { !statics.contains($0.name) }
            unknown += fresh.map { UnknownName(kind: .method(of: name), name: $0.name, line: $0.line) }
            unknown += definition.originals.filter { !methods.contains($0.name) && !statics.contains($0.name) }.map {
                UnknownName(kind: .original(of: name), name: $0.name, line: $0.line)
            }
        }
        return unknown.sorted { $0.line < $1.line }
    }

    /// The text argument at the start of a call `name("text"`, and the position after it.
    private func textOfCall(_ at: Int) -> (String, next: Int)? {
        guard at + 2 < tokens.count, case .name = tokens[at].kind, tokens[at + 1].kind == .sign("("),
            case .text(let text?) = tokens[at + 2].kind
        else { return nil }
        return (text, at + 3)
    }

    private mutating func define(_ declaration: String, at: Int, from next: Int) {
        let name = declaration.prefix { $0 != ":" && $0 != "<" }.trimmingBlanks
        var definition = Definition(type: Use(name: name, line: tokens[at].line))
        var at = next
        var blocks = 0
        while blocks < 2, at + 1 < tokens.count, tokens[at].kind == .sign(",") {
            if tokens[at + 1].kind == .sign("[") {
                at = end(of: at + 1) + 1
            } else if tokens[at + 1].kind == .sign("{") {
                let end = end(of: at + 1)
                let methods = members(in: at + 2..<end)
                if blocks == 0 { definition.methods = methods } else { definition.statics = methods }
                definition.originals += originals(in: at + 2..<end)
                blocks += 1
                at = end + 1
            } else {
                break
            }
        }
        definitions.append(definition)
    }

    /// The position of the sign that closes the one at `at`.
    private func end(of at: Int) -> Int {
        var depth = 0
        for place in at..<tokens.count {
            switch tokens[place].kind {
            case .sign("("), .sign("["), .sign("{"): depth += 1
            case .sign(")"), .sign("]"), .sign("}"):
                depth -= 1
                if depth == 0 { return place }
            default: break
            }
        }
        return tokens.count
    }

    /// The names of an object's members: each precedes a `(` or a `:`, at the start or after a comma.
    private func members(in range: Range<Int>) -> [Use] {
        var (uses, at): ([Use], Int) = ([], range.lowerBound)
        while at < range.upperBound {
            var name: String?
            while at < range.upperBound, name == nil {
                switch (tokens[at].kind, at + 1 < range.upperBound ? tokens[at + 1].kind : .other) {
                case (.name(let found), .sign("(")), (.name(let found), .sign(":")): name = found
                case (.text(let found?), .sign("(")), (.text(let found?), .sign(":")): name = found
                case (.sign(","), _): break
                default: break
                }
                if let name { uses.append(Use(name: name, line: tokens[at].line)) }
                at += 1
            }
            // Skips to the comma after the member, including nested parentheses.
            while at < range.upperBound, tokens[at].kind != .sign(",") {
                switch tokens[at].kind {
                case .sign("("), .sign("["), .sign("{"): at = end(of: at) + 1
                default: at += 1
                }
            }
            at += 1
        }
        return uses
    }

    private func originals(in range: Range<Int>) -> [Use] {
        range.clamped(to: tokens.indices).compactMap { at in
            guard case .name(let name) = tokens[at].kind, name.hasPrefix("ORIG"), name.count > 4 else { return nil }
            return Use(name: String(name.dropFirst(4)), line: tokens[at].line)
        }
    }
}

extension HostInterface {
    /// The names of a type's methods, those of its parents, and those that every type has.
    fileprivate func methods(of name: String, _ list: KeyPath<ExposedType, [Method]>) -> [String] {
        var (names, next): ([String], String?) = (["init", "super", "alloc"], name)
        var seen: Set<String> = []
        while let name = next, seen.insert(name).inserted, let type = self[name] {
            names += type[keyPath: list].map(\.name)
            next = type.parent
        }
        return names
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
