/// Finds a token that a command line names by id or name.
package struct TokenNaming: Equatable, Sendable {
    package enum Found: Equatable, Sendable {
        case one(id: String)
        case none
        /// Several valid tokens have the name. They were made when names were not unique.
        case several(ids: [String])
    }

    let id: String
    let name: String
    let isValid: Bool

    package init(id: String, name: String, isValid: Bool) {
        (self.id, self.name, self.isValid) = (id, name, isValid)
    }

    /// The token with this id, else the valid one with this name, else the newest with this name.
    ///
    /// - Parameter tokens: The tokens, oldest first.
    package static func find(_ text: String, among tokens: [TokenNaming]) -> Found {
        if tokens.contains(where: { $0.id == text }) { return .one(id: text) }
        let named = tokens.filter { $0.name == text }
        let valid = named.filter(\.isValid)
        guard valid.count <= 1 else { return .several(ids: valid.map(\.id)) }
        return (valid.first ?? named.last).map { .one(id: $0.id) } ?? .none
    }
}
