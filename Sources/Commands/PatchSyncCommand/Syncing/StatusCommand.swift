import PatchChoice
import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFormat
import PatchSync
import Patchline
import SystemPackage

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show each patch's state: active, pending, blocked or held back. No network.",
        discussion: """
            Versions that the dial or a rule holds back are shown as of the last sync,
            from this device's list and dial. Versions that a server chose for its users
            are not stored and not shown.

            EXAMPLES
              patchsync status --store /var/lib/app
              patchsync status --store /var/lib/app --json
              patchsync status --store /var/lib/app --debug
            """
                + exitCodes([
                    .done: "shown",
                    .malformed: "a file of the store is malformed",
                    .disk: "disk, or no store",
                ])
    )

    @OptionGroup var options: StoreOptions

    @Flag(help: "Also show why each listed version is or is not here, the last errors, and the end of the log.")
    var debug = false

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let report = try await reporting { () throws(SyncError) in try device.status() }
        let digest = debug ? LogDigest(StoreLog(device.store.root).lines().compactMap { LogLine($0) }) : nil
        // The stored files may be inconsistent before the next sync.
        let explanation = debug ? (try? device.explanation()) ?? nil : nil
        let out = Console.standardOutput
        if options.json {
            var document = StatusDocument(report, device.configuration)
            (document.livePages, document.debug) = (device.keptPages, digest?.json(explanation))
            out.line(document.json.line)
        } else {
            report.print(device.configuration, of: device.store.root)
            if let pages = device.keptPages { out.line(pages.words) }
            digest?.print(explanation, to: out)
        }
    }
}

extension StatusReport {
    /// A note that the embedded versions run, and whether the list is newer; empty if others run.
    private var embeddedWords: String {
        guard runsEmbedded, let shipped = machine.embedded?.roleVersion else { return "" }
        let isNewer = lastSync.map { $0.roleVersion <= shipped } ?? false
        return ", runs the embedded versions (release \(shipped)" + (isNewer ? ", no list is newer)" : ")")
    }

    func print(_ configuration: DeviceConfiguration, of store: FilePath, on out: Console = .standardOutput) {
        out.line("\(configuration.app), channel \(configuration.channel): \(sentence(store))")
        if let syncFailure { out.line(syncFailure.sentence(at: time)) }
        if !rows.isEmpty {
            Table(
                ["PATCH", "KIND", "VERSION", "NOW", "NOTE", "STATE"],
                rows: rows.map { row in
                    [
                        .init(row.patchID.text), .init(row.kind.rawValue), .init(row.version.text),
                        .init(words(row), row.state.style), .init(row.fault ?? note(row)), .init(row.state.name),
                    ]
                }
            ).write(to: out)
        }
        for row in rows where row.place.isInPages {
            out.line(printable("\(row.patchID) \(row.version) \(row.place)"))
        }
        if case .trying(_, _, let launch) = machine.state, let error = launch.error {
            out.line("a page of this trial failed: \(printable(error.description))")
        }
        for leaving in leaving {
            let after = leaving.next.map { "\($0.version) replaces it" } ?? "it is removed"
            out.line("\(leaving.patch.label): withdrawn; \(after) at the next launch")
        }
        if let damagedState {
            out.line(
                "an unreadable state was kept: \(printable(damagedState.string)); remove it after a look"
            )
        }
        for (content, block) in machine.blocks.blocks.sorted(by: { $0.key < $1.key }) {
            let next = (retries[content] ?? .waits).sentence(block.until)
            out.line("\(content.patchID) \(block.version): \(block.reason.rawValue); \(next)")
            if let error = block.error { out.line("  its page's first error: \(printable(error.description))") }
        }
        if configuration.pages.host.isShared {
            out.line(
                "pages: on \(configuration.pages.text), whose cookies every port of this machine receives; `patchsync set --host own` ends that"
            )
        }
        if let reserve = configuration.reserve { out.line("disk reserve: \(Words.bytes(reserve))") }
        if let words = configuration.entrySignatures.words { out.line(words) }
        if let words = configuration.network.words { out.line("network: \(words)") }
        for words in putOff.words { out.line(words) }
        for version in noRoom { out.line(version.words) }
        printDeciding(configuration.policy, to: out)
        printTransfers(to: out)
        for (decision, passed) in heldBack { out.line(decision.words(passed)) }
    }

    private func words(_ row: Row) -> String {
        let start = hold == nil ? pendingActivation?.start ?? .unknown : .held
        return PatchProgress.words(from: nil, to: row.state, start: row.isPending ? start : .unknown)
    }

    private func note(_ row: Row) -> String {
        guard row.isPending else { return "" }
        return hold.map { "\($0)" } ?? pendingActivation?.remark ?? ""
    }

    private func sentence(_ store: FilePath) -> String {
        let sync = lastSync.map { ", last sync \($0.at) (release \($0.roleVersion))" } ?? ", never synced"
        switch machine.state {
        case .empty: return "nothing installed" + sync
        case .settled: return "settled" + embeddedWords + sync
        case .pending: return "a new version waits" + sync
        case .trying(_, _, let launch):
            let how = "(confirm: \(launch.token.hint(store)))"
            if machine.isUnproven { return "a first version runs that was not confirmed yet; it stays \(how)" + sync }
            let count = launch.isCounted ? "" : ", the present one not counted"
            return "a trial is running, launch \(launch.launches)\(count) \(how)" + sync
        }
    }
}

extension KeptPages {
    fileprivate var words: String {
        "live pages: \(pages) kept (\(Words.bytes(pageBytes))), and \(links) files that they link to (\(Words.bytes(linkBytes)))"
    }
}

extension EntrySignatures {
    /// A description, or nil if all signatures are required.
    var words: String? {
        switch self {
        case .required: nil
        case .manifest:
            "entry signatures: only the list entry's; those of a bundle's files are not downloaded or checked"
        }
    }
}

extension StatusReport.Retry {
    fileprivate func sentence(_ until: UTCTime) -> String {
        switch self {
        case .waits: "next try after \(until)"
        case .blocked: "blocked until \(until)"
        case .free: "the next sync tries it again"
        case .onTrial: "on trial again now"
        case .notListed: "no longer listed, so it is not tried again"
        }
    }
}

extension LogDigest {
    func print(_ explanation: Explanation?, to out: Console) {
        for version in explanation?.versions ?? [] { out.line(version.sentence) }
        if let lastError {
            let times = failuresInARow > 0 ? "; \(Words.count(failuresInARow, "sync", "syncs")) failed in a row" : ""
            out.line("last error, \(lastError.time): \(printable(lastError.text))\(times)")
        } else {
            out.line("no error in the log")
        }
        for line in last { out.line(line.words) }
    }
}
