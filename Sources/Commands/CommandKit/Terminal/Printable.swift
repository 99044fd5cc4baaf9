/// Escapes everything in text from outside that could control a terminal: `\u{1B}`, `\n`, `\u{202E}`.
///
/// These are control characters (C0, DEL, C1), line and paragraph separators, and invisible formatting such as the bidirectional
/// overrides, which make a name read backwards. The joiners of Persian words and of emoji are kept.
package func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isDangerous) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case _ where !isDangerous(scalar): result.unicodeScalars.append(scalar)
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }
    return result
}

private func isDangerous(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value >= 0x20 && scalar.value < 0x7F { return false }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return true
    case .format: return scalar != "\u{200C}" && scalar != "\u{200D}"
    default: return false
    }
}
