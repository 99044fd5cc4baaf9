/// A JSON value as Patchline signs it: no floats, exact strings, members in the order of the input.
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
/// Keys are unique. The parser rejects a duplicate key, and a writer keeps its first value.
package struct JSONObject: Sendable {
    package struct Member: Hashable, Sendable {
        package let key: ExactString
        package var value: JSON
    }

    /// Below this number of members, a linear search is as fast as a lookup.
    static let fewMembers = 16

    package private(set) var members: [Member]
    /// The position of each key, or nil if there are few members.
    private var places: [ExactString: Int32]?

    /// Keeps the first value of a duplicate key, so that the document is always valid.
    ///
    /// A duplicate key is a defect of the caller. In a debug build it ends a test process.
    package init(_ members: [(String, JSON)] = []) {
        let all = members.map { Member(key: ExactString($0.0), value: $0.1) }
        self.members = Self.firsts(of: all)
        if self.members.count < all.count { Self.failTestRun() }
        places = Self.places(of: self.members)
    }

    /// The first member of each key, in their order.
    static func firsts(of members: [Member]) -> [Member] {
        var seen: Set<ExactString> = []
        return members.filter { seen.insert($0.key).inserted }
    }

    /// Ends a test process in which a key is duplicated.
    ///
    /// A program continues: input from outside may be the cause, and must not stop all stores of a device.
    private static func failTestRun() {
        #if DEBUG
        if CommandLine.arguments.first?.hasSuffix(".xctest") == true { fatalError("a JSON key is doubled") }
        #endif
    }

    /// Used by the parser, which has already rejected duplicate keys.
    init(unique members: [Member], places: [ExactString: Int32]?) {
        self.members = members
        self.places = places
    }

    static func places(of members: [Member]) -> [ExactString: Int32]? {
        guard members.count >= fewMembers else { return nil }
        return Dictionary(members.enumerated().map { ($1.key, Int32($0)) }) { first, _ in first }
    }

    private func place(of key: ExactString) -> Int? {
        places.map { $0[key].map(Int.init) } ?? members.firstIndex { $0.key == key }
    }

    package subscript(key: String) -> JSON? {
        get { place(of: ExactString(key)).map { members[$0].value } }
        set {
            let key = ExactString(key)
            switch (place(of: key), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil):
                members.remove(at: place)
                places = Self.places(of: members)
            case (nil, let value?):
                places?[key] = Int32(members.count)
                members.append(Member(key: key, value: value))
                if places == nil { places = Self.places(of: members) }
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Hashable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members == right.members
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(members)
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
