import PatchFormat
import CommandKit

/// An option's file, or `-`, that holds what a command line would show to every user of the machine.
struct SecretFile {
    /// Bytes.
    static let limit = 64 * 1024

    let option: String
    let path: String

    /// Those with anything in them.
    func lines() throws(Failure) -> [String] {
        let lines: [String]
        do throws(SystemError) { lines = try secretLines(of: path, limit: Self.limit) } catch {
            let place = printable(SecretInput.name(of: path))
            throw Failure("\(option): cannot read \(place): \(error.reason)", code: .disk)
        }
        return lines.filter { !$0.isEmpty }
    }

    /// The first; empty without one.
    func line() throws(Failure) -> String { try lines().first ?? "" }
}
