package import PatchFormat

extension JSON {
    /// One line, for scripts.
    package var line: String { String(decoding: fileBytes, as: UTF8.self) }
}
