import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchSync
import PatchTrust
import CommandKit

/// The messages of a running sync, and a progress line during downloads.
final class SyncTranscript: Sendable {
    private struct State {
        var patches: [PatchStates] = []
        var progress: ProgressReport?
        var lastLine = ""
        var putOff: Set<PatchID> = []
    }

    private let console: Console?
    private let state = NIOLockedValueBox(State())

    /// - Parameter console: The output, or nil for none.
    init(_ console: Console?) {
        self.console = console
    }

    /// Reports that another process syncs the store.
    ///
    /// - Parameter process: Its id, or nil if it is unknown.
    func wait(for process: Int?, upTo patience: Duration) {
        let other = process.map { "process \($0)" } ?? "another process"
        console?.line("\(other) syncs this store: waiting up to \(DurationText(patience))")
    }

    func take(_ event: SyncEvent) {
        state.withLockedValue { state in
            switch event {
            case .verified(let version, let entries):
                console?.line("release \(version) verified, \(Words.count(entries, "entry", "entries"))")
            case .refused(let entry):
                console?.line("refused: \(printable(entry.fault.description))")
            case .state: state.patches.take(event)
            case .downloading(let files, let bytes):
                guard let console else { return }
                let wanted = state.patches.filter {
                    $0.states.last?.work == .download && !state.putOff.contains($0.patchID)
                }
                guard !wanted.isEmpty else { return console.line("plan: every file is stored already") }
                let names = wanted.map { "\($0.patchID) \($0.version) (\($0.states.last?.name ?? ""))" }
                console.line(
                    "plan: \(names.joined(separator: ", ")); \(Words.count(files, "object")), \(ByteText(bytes))"
                )
                guard files > 0 else { return }
                state.progress = ProgressReport(
                    "downloading \(Words.count(files, "object"))",
                    total: bytes,
                    unit: .bytes,
                    on: console
                )
            case .waiting(let duration, let error):
                say("waiting up to \(DurationText(duration)) for the network: \(printable(error.description))", &state)
            case .approved(let versions):
                say("approved: \(versions.map(\.description).joined(separator: ", "))", &state)
            case .networkChanged: say("the network changed: trying again", &state)
            case .newerList(let version): say("release \(version) is out: continuing with it", &state)
            case .received(let bytes): state.progress?.advance(by: bytes)
            case .fileDone, .plainRequested, .expressIgnored: break
            case .packBegan(let label, let bytes):
                guard let console else { return }
                state.progress = ProgressReport("downloading \(label)", total: bytes, unit: .bytes, on: console)
            case .byPack(let use):
                state.progress?.finish()
                state.progress = nil
                console?.line(use.words)
            case .packRefused(let label, let error):
                state.progress?.abandon()
                state.progress = nil
                console?.line("\(label) is downloaded without a pack: \(printable(error.description))")
            // The version is reported later with the others that are passed over.
            case .putOff(let version): state.putOff.insert(version.content.patchID)
            case .failed(let failure):
                state.progress?.abandon()
                state.progress = nil
                console?.line("failed: \(failure.patchID) \(failure.version): \(printable(failure.error.description))")
            }
        }
    }

    /// Prints a line, unless it equals the last one.
    ///
    /// Several downloads may have the same message.
    private func say(_ line: String, _ state: inout State) {
        guard state.lastLine != line else { return }
        state.lastLine = line
        console?.line(line)
    }

    func finish() {
        state.withLockedValue { state in
            state.progress?.finish()
            state.progress = nil
        }
    }
}
