/// A JSON value as Patchline signs it: no floats, exact strings, members in the order in which they were read.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case string(ExactString)
    case array([JSON])
    case object(JSONObject)
}

/// The members of a JSON object.
///
/// No key stands twice: the parser refuses it and the initialiser traps.
package struct JSONObject: Hashable, Sendable {
    package struct Member: Hashable, Sendable {
        package let key: ExactString
        package var value: JSON
    }

    package private(set) var members: [Member]

    package init(_ members: [(String, JSON)] = []) {
        self.members = members.map { Member(key: ExactString($0.0), value: $0.1) }
        precondition(Set(self.members.map(\.key)).count == members.count, "a key stands twice")
    }

    /// The parser's way in; it has already refused duplicate keys.
    init(unique members: [Member]) {
        self.members = members
    }

    package subscript(key: String) -> JSON? {
        get {
            let key = ExactString(key)
            return members.first { $0.key == key }?.value
        }
        set {
            let key = ExactString(key)
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }
}

extension JSON {
    package static func text(_ text: String) -> JSON {
        .string(ExactString(text))
    }

    package static func fields(_ members: [(String, JSON?)]) -> JSON {
        .object(JSONObject(members.compactMap { key, value in value.map { (key, $0) } }))
    }

    package var object: JSONObject? {
        guard case .object(let object) = self else { return nil }
        return object
    }

    package subscript(key: String) -> JSON? {
        object?[key]
    }
}
