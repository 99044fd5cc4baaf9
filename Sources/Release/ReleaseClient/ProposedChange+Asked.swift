import PatchFormat

extension ProposedChange {
    /// `change.to must be 7 and is 3`: the first field in which a service's change differs from this one.
    func words(against offered: ProposedChange) -> String {
        let (mine, theirs) = (fields, offered.fields)
        func value(of name: String, in fields: [(name: String, value: String)]) -> String {
            fields.first { $0.name == name }?.value ?? "left out"
        }
        let name =
            (mine + theirs).map(\.name).first { value(of: $0, in: mine) != value(of: $0, in: theirs) } ?? "action"
        return "change.\(name) must be \(value(of: name, in: mine)) and is \(value(of: name, in: theirs))"
    }

    /// The members under the names in a service's documents, the action first.
    private var fields: [(name: String, value: String)] {
        members.flatMap { (name, value) -> [(name: String, value: String)] in
            guard let members = value?.object?.members else { return value.map { [(name, Self.text($0))] } ?? [] }
            return members.map { ("\(name).\($0.key.text)", Self.text(share: $0.value)) }
        }
    }

    private static func text(_ value: JSON) -> String {
        if case .string(let text) = value { text.text } else { String(decoding: value.fileBytes, as: UTF8.self) }
    }

    /// A value of `rollouts`, the only object among the members.
    private static func text(share: JSON) -> String {
        if case .integer(let share) = share { RolloutShare(share).description } else { text(share) }
    }
}
