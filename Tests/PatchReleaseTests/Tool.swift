import Subprocess
import SystemPackage
import Testing

/// A program that somebody else wrote, as a judge; one that is missing fails the test.
func tool(_ name: String, _ arguments: [String]) async throws -> (output: String, succeeded: Bool) {
    let result = try await Subprocess.run(
        .name(name),
        arguments: Arguments(arguments),
        output: .string(limit: 1_000_000),
        error: .string(limit: 1_000_000)
    )
    return (result.standardOutput, result.terminationStatus.isSuccess)
}
