/// Why the proxy does not pass a path on.
enum SentPathRefusal: Error, Equatable {
    case dotSegment
    case controlCharacter
    /// Two readings of the path have different rules.
    case ambiguous

    /// The response's text.
    var message: String {
        switch self {
        case .dotSegment: "The path has a segment . or .., which servers resolve in different ways."
        case .controlCharacter: "The path has an encoded control character."
        case .ambiguous: "The path has an empty segment or an encoded slash, and the rules differ by how it is read."
        }
    }
}
