/// Why a text is no pattern; positions are in characters, from 0.
package enum PatternError: Error, Equatable, Sendable {
    case empty
    /// More than ``ProxyPattern/maxLength`` characters.
    case tooLong
    /// Its counted repetitions make it larger than a pattern may be.
    case tooLarge
    /// A `(` or `[` without its end, or a `)` without its begin.
    case unbalanced(at: Int)
    /// `*`, `+`, `?` or `{` with nothing before it.
    case nothingToRepeat(at: Int)
    /// `{3,2}`, `{x}`, `[z-a]`.
    case badRange(at: Int)
    /// A look-around, a back-reference, `\b` and whatever else cannot be matched in one pass.
    case unsupported(at: Int)
    /// Nothing that it matches begins with `/`, and every path does.
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
        case .unsupported(let position): "uses what is not supported at character \(position + 1)"
        }
    }
}
