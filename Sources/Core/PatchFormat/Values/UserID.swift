/// The user of a device, as identified by the app.
///
/// Only its hash leaves the device.
package struct UserID: Hashable, Sendable, CustomStringConvertible {
    package static let rule = "must be 1 to 256 bytes without control characters"
    package let text: String

    package init?(_ text: String) {
        guard (1...256).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func == (left: UserID, right: UserID) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(text))
    }
}
