/// Why a text is not a valid pattern.
///
/// Positions are in characters, from 0.
package enum PatternError: Error, Equatable, Sendable {
    case empty
    /// More than ``ProxyPattern/maxLength`` characters.
    case tooLong
    /// The counted repetitions make the pattern too large.
    case tooLarge
    /// A `(` or `[` without its end, or a `)` without its beginning.
    case unbalanced(at: Int)
    /// A `*`, `+`, `?` or `{` that follows nothing.
    case nothingToRepeat(at: Int)
    /// `{3,2}`, `{x}`, `[z-a]`.
    case badRange(at: Int)
    /// A look-around, a back-reference, `\b`, or another element that cannot be matched in one pass.
    case unsupported(at: Int)
    /// No match begins with `/`, but every path does.
    case noPath
}

extension PatternError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .empty: "is empty"
        case .tooLong: "is longer than \(ProxyPattern.maxLength) characters"
        case .tooLarge: "repeats too much"
        case .unbalanced(let position): "has an unbalanced bracket at character \(position + 1)"
        case .nothingToRepeat(let position): "repeats nothing at character \(position + 1)"
        case .badRange(let position): "has a bad range at character \(position + 1)"
        case .noPath: "can never match: every path begins with '/'"
        case .unsupported(let position): "uses unsupported syntax at character \(position + 1)"
        }
    }
}
