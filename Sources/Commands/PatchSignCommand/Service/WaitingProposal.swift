import CommandKit
import PatchFormat
import ReleaseClient

/// A proposal of this command, until its release is published.
struct WaitingProposal {
    let id: ProposalID
    let app: AppID
    let channel: ChannelName
    let options: ChangeOptions

    /// Withdraws it.
    ///
    /// - Returns: the reason why it could not be withdrawn; nil on success.
    func withdrawn() async -> Failure? {
        do throws(Failure) {
            _ = try await options.server.asking { client throws(ServiceError) in
                try await client.change(.delete, "/apps/\(app)/channels/\(channel)/proposals/\(id)")
            }
            return nil
        } catch {
            return stays(because: error)
        }
    }

    func stays(because error: Failure) -> Failure {
        Failure(
            "the proposal \(id) could not be withdrawn: \(error.message)",
            hint: hint(after: error),
            code: error.code
        )
    }

    /// Withdraws it after an error; the failure reports both the error and the state of the proposal.
    func withdrawn(after error: Failure) async -> Failure {
        let end = await withdrawn() == nil ? "the proposal was withdrawn; nothing waits on the server" : waits
        return Failure(error.message, hint: Self.joined(error.hint, end), code: error.code)
    }

    /// The error's hint, followed by the commands for the pending proposal.
    func hint(after error: Failure) -> String { Self.joined(error.hint, waits) }

    private var waits: String {
        let output = options.making.output.map(shellWord) ?? "work"
        let rest =
            "--channel \(channel)\(options.server.words) --keys \(shellWord(options.keys.keys)) --output \(output)"
        return "the proposal \(id) waits: `patchsign pull --proposal \(id) \(rest)` makes its release again\n"
            + "`patchsrv proposal remove \(id) --channel \(channel)` withdraws it"
    }

    private static func joined(_ hint: String?, _ more: String) -> String {
        (hint.map { "\($0)\n" } ?? "") + more
    }
}
