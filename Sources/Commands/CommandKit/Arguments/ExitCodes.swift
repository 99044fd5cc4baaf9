package import PatchFormat

/// The section of a command's help that lists its exit codes.
package enum ExitCodes {
    static let heading = "EXIT CODES"

    /// - Parameters:
    ///   - own: Codes with their meaning for this command.
    ///   - usual: Codes with their usual meaning.
    fileprivate static func section(
        _ own: KeyValuePairs<ResultCode, String>,
        _ usual: [ResultCode]
    ) -> String {
        var meanings: [ResultCode: String] = [.usage: ResultCode.usage.meaning]
        for code in usual { meanings[code] = code.meaning }
        for (code, meaning) in own { meanings[code] = meaning }
        let rows = meanings.sorted { $0.key.rawValue < $1.key.rawValue }.map { code, meaning in
            "  \(code.rawValue)".padded(to: 7) + meaning
        }
        return "\n\n" + ([heading] + rows).joined(separator: "\n")
    }

    /// Returns the lines of the section in a command's discussion, or nil if it has none.
    static func section(of discussion: String) -> [String]? {
        let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.firstIndex { $0 == heading }.map { lines[$0...].map(String.init) }
    }
}

/// Returns the section of exit codes for the end of a command's discussion.
///
/// Every command may end with 64, which is always listed.
package func exitCodes(
    _ own: KeyValuePairs<ResultCode, String>,
    usual: ResultCode...
) -> String {
    ExitCodes.section(own, usual)
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(2, count - self.count))
    }
}
