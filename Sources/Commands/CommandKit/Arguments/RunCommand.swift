package import PatchFormat
import ArgumentParser

/// Runs a command's work and ends the process as its failure says.
///
/// - Parameter json: whether a script reads: then the failure also stands on standard output, as one line of JSON.
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
    /// Ends the command with this code; what went wrong has been said.
    package var asError: any Error { ArgumentParser.ExitCode(rawValue) }
}
