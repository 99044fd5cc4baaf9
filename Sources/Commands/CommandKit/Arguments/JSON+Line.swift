package import PatchFormat

extension JSON {
    /// The value as one line, for scripts.
    package var line: String { String(decoding: fileBytes, as: UTF8.self) }
}
