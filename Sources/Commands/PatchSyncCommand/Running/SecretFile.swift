import PatchFormat
import CommandKit

/// The file of an option, or `-`.
///
/// It contains a secret that every user of the machine could read on a command line.
struct SecretFile {
    /// The largest size in bytes.
    static let limit = 64 * 1024

    let option: String
    let path: String

    /// Returns the lines that are not empty.
    func lines() throws(Failure) -> [String] {
        let lines: [String]
        do throws(SystemError) { lines = try secretLines(of: path, limit: Self.limit) } catch {
            let place = printable(SecretInput.name(of: path))
            throw Failure("\(option): cannot read \(place): \(error.reason)", code: .disk)
        }
        return lines.filter { !$0.isEmpty }
    }

    /// Returns the first line that is not empty, or an empty text.
    func line() throws(Failure) -> String { try lines().first ?? "" }
}
