/// Why something was not done, for people and for scripts.
package struct Failure: Error, Equatable, Sendable {
    /// One line, without "error:" before it or a full stop behind it: "the list expired on 3 May".
    package let message: String
    /// How to continue; may have several lines.
    package let hint: String?
    package let code: ResultCode

    package init(_ message: String, hint: String? = nil, code: ResultCode = .failed) {
        self.message = message
        self.hint = hint
        self.code = code
    }
}
