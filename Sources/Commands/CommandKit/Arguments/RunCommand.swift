package import PatchFormat
import ArgumentParser

/// Runs a command's work, and ends the process with the exit code of a failure.
///
/// - Parameter json: Whether the output is for scripts. Then the failure is also written to standard output, as one line of JSON.
package func runCommand<Result>(
    json: Bool = false,
    _ work: () async throws(Failure) -> Result
) async throws -> Result {
    do throws(Failure) {
        return try await work()
    } catch {
        let error = ActingOwner.explained(error)
        if json { Console.standardOutput.line(error.json) }
        error.report(to: .standardError)
        throw ArgumentParser.ExitCode(error.code.rawValue)
    }
}

extension ResultCode {
    /// Ends the command with this code.
    ///
    /// The failure was already reported.
    package var asError: any Error { ArgumentParser.ExitCode(rawValue) }
}
