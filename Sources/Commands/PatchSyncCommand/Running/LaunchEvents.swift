import AssetServer
import CommandKit
import DeviceOutput
import PatchChoice
import PatchFormat
import PatchSync
import Patchline
import SystemPackage

/// The output of `serve`: sentences, or one JSON object a line.
struct LaunchEvents: Sendable {
    private let json: Bool
    private let store: FilePath
    /// The store's name, if there are several stores.
    private let name: String?
    private let (out, errors): (Console, Console)
    /// The journal, if standard output is connected to it.
    ///
    /// It receives each line as an entry with fields.
    private let journal: SystemJournal?

    init(_ options: StoreOptions) {
        self.init(
            json: options.json,
            store: options.path,
            journal: Journal.isStandardOutput && !options.json ? Journal.entries : nil
        )
    }

    init(
        json: Bool,
        store: FilePath,
        named name: String? = nil,
        out: Console = .standardOutput,
        errors: Console = .standardError,
        journal: SystemJournal? = nil
    ) {
        self.json = json
        self.store = store
        self.name = name
        (self.out, self.errors) = (out, errors)
        self.journal = journal
    }

    /// - Parameters:
    ///   - file: The file that contains the URL, which is then not printed.
    ///   - isSecret: Whether other users may read the output. Token and host are then not printed.
    func listening(_ address: LocalServer.Address, urlIn file: String?, isSecret: Bool) {
        if address.token != nil, PagesHost(named: address.host).isShared {
            errors.line(
                "warning: pages are served on \(address.host), whose cookies go to every port of this machine, other users' too"
            )
            errors.line(
                "hint: `patchsync set --host own` gives them a host of their own; storage starts empty"
            )
        }
        if let file {
            return say(
                "listening",
                "patchsync: listening on port \(address.port); the URL is in \(printable(file))",
                [("urlFile", .text(file)), ("port", .integer(address.port))]
            )
        }
        if isSecret, address.token != nil {
            return say(
                "listening",
                "patchsync: listening on port \(address.port); the journal does not show the URL, because it grants access "
                    + "(--url-file FILE, or --print-url)",
                [("port", .integer(address.port))]
            )
        }
        say(
            "listening",
            "patchsync: listening on \(address.url)",
            [("url", .text(address.url)), ("origin", .text(address.origin)), ("port", .integer(address.port))]
        )
    }

    func isOpen() {
        errors.line(
            "warning: --open lets every program and every user on this machine read the app's pages"
        )
    }

    /// Prints an event, unless only the log and the local API report it.
    func take(_ event: DeviceEvent) {
        switch event {
        case .fileTrouble(let line): errors.line(line)
        case .portTaken(let port, let next):
            errors.line(
                "warning: port \(port) is in use; trying \(next). The origin changes: pages lose cookies and storage."
            )
        case .synced(.success(let report)): for event in [event] + report.troubles { say(event) }
        default: say(event)
        }
    }

    private func say(_ event: DeviceEvent) {
        guard let text = words(event) else { return }
        say(event.name, isTrouble: event.isTrouble, text, event.members)
    }

    private static func words(_ report: SyncReport) -> String {
        let what = report.staging == .staged ? "a new version is here" : "nothing new"
        return
            (["synced: release \(report.roleVersion), \(what)"] + report.putOff.map(\.words)
            + report.awaiting.map { "\($0.label) waits for approval" }).joined(separator: "; ")
    }

    /// Returns the event's sentence, or nil for an event that is not printed.
    private func words(_ event: DeviceEvent) -> String? {
        switch event {
        case .nothingInstalled: return "nothing is installed yet"
        case .serving(let selection, let trial):
            let how = trial.map { "on trial; confirm: \($0.hint(store))" } ?? "confirmed"
            return "serving \(selection.words) (\(how))"
        case .following(let channel): return "follows channel \(channel) now"
        case .withdrawn(let ids): return "withdrawn: \(ids.map(\.text).joined(separator: ", "))"
        case .damaged(let files):
            return "damaged, not served until the next sync repairs them: \(printable(files.joined(separator: ", ")))"
        case .confirmed(let selection): return "confirmed: \(selection.words)"
        case .rolledBack(let good, let bad, let setback):
            let why = setback.map { ": \(printable($0.description))" } ?? ""
            return "rolled back to \(good?.words ?? "nothing") from \(bad.words)\(why)"
        case .unproven(let selection):
            return
                "not confirmed in time: \(selection.words); it stays, because there is no earlier version. It can still be confirmed, "
                + "and a newer release replaces it"
        case .superseded(let selection, let next):
            let words = next.patches.isEmpty ? nil : next.words
            return DeviceEvent.words(ofSuperseded: selection.words, by: words)
        case .scriptFailed(let failure): return Self.trouble(failure.description)
        case .scriptsLeftOut(let page, let reason): return Self.trouble(reason.words(page))
        case .stalePage(let version): return Self.trouble(DeviceEvent.words(ofStalePage: version))
        case .bundleMissing(let id, let there):
            let names = there.map(\.text).joined(separator: ", ")
            return "trouble: the active versions have no bundle \(id); there is \(names) (--bundle)"
        case .stateFault(let fault): return "trouble: \(printable(fault.description))"
        case .parametersChanged(let parameters):
            return "parameters: \(parameters.values.count) of \(parameters.channel)"
        case .trouble(let error): return Self.trouble(error.description)
        case .synced(.success(let report)): return Self.words(report)
        case .synced(.failure(let error)): return Self.trouble("sync: \(error.description)")
        case .parametersTrouble(let error): return Self.trouble("the last good parameters stay: \(error.description)")
        case .failed(let failure): return Self.trouble("\(failure.patchID) \(failure.version): \(failure.error)")
        case .noRoom(let version): return Self.trouble("\(version.label): \(version.words)")
        case .syncing, .portTaken, .fileTrouble, .update, .updateDone, .script, .asked, .awaiting, .approved,
            .postponed,
            .postponementEnded, .made, .differs, .follows, .removed, .listening, .proxyLine, .storeFailed:
            return nil
        }
    }

    /// Reports lines that could not be written, because of a full disk or a reader that has closed the pipe.
    @Sendable static func lost(_ count: Int) -> String {
        JSON.fields([("event", .text("linesLost")), ("count", .integer(count))]).line
    }

    private static func trouble(_ text: String) -> String { "trouble: \(printable(text))" }

    func say(_ event: String, isTrouble: Bool = false, _ text: String, _ members: [(String, JSON?)] = []) {
        guard !json else {
            return out.line(JSON.fields([("event", .text(event)), ("store", name.map { .text($0) })] + members).line)
        }
        let isTaken = journal?.send([
            // The priorities of syslog(3): warning, or informational.
            ("MESSAGE", text), ("PRIORITY", isTrouble ? "4" : "6"), ("SYSLOG_IDENTIFIER", "patchsync"),
            ("PATCHLINE_STORE", store.string), ("PATCHLINE_EVENT", event),
        ])
        if isTaken != true { out.line(name.map { "\($0): \(text)" } ?? text) }
    }
}
