package import PatchFormat

/// The section of a command's help that lists the codes with which it may end.
package enum ExitCodes {
    static let heading = "EXIT CODES"

    /// - Parameters:
    ///   - own: codes with what they mean here.
    ///   - usual: codes that mean what they always do.
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

    /// The lines of the section within a command's discussion; nil where it has none.
    static func section(of discussion: String) -> [String]? {
        let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.firstIndex { $0 == heading }.map { lines[$0...].map(String.init) }
    }
}

/// What stands at the end of a command's discussion.
///
/// Every command may end with 64, and says so without being told.
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
