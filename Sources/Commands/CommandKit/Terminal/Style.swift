/// A highlighting style for words on a terminal.
package enum Style: CaseIterable, Sendable {
    case bold, dim, red, green, yellow, cyan

    /// The parameter of select graphic rendition (ECMA-48 8.3.117).
    var code: Int {
        switch self {
        case .bold: 1
        case .dim: 2
        case .red: 31
        case .green: 32
        case .yellow: 33
        case .cyan: 36
        }
    }
}

extension Console {
    /// Returns the text in these styles if colour is allowed, or the plain text.
    package func styled(_ text: String, _ styles: Style...) -> String {
        guard allowsColor, !styles.isEmpty, !text.isEmpty else { return text }
        return "\u{1B}[" + styles.map { String($0.code) }.joined(separator: ";") + "m" + text + "\u{1B}[0m"
    }
}
