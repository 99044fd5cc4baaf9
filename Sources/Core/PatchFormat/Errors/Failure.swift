/// Why an operation failed, for people and for scripts.
package struct Failure: Error, Equatable, Sendable {
    /// One line without a leading "error:" and without a full stop, such as "the list expired on 3 May".
    package let message: String
    /// How to continue, in one or more lines.
    package let hint: String?
    package let code: ResultCode

    package init(_ message: String, hint: String? = nil, code: ResultCode = .failed) {
        self.message = message
        self.hint = hint
        self.code = code
    }
}
