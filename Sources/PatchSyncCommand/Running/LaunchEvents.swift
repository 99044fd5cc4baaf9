import CommandSupport
import PatchChoice
import PatchFormat
import PatchSync
import Patchline
import SystemPackage
import Terminal

/// What `serve` prints: sentences, or one JSON object a line.
struct LaunchEvents: Sendable {
    private let json: Bool
    private let store: FilePath
    private let (out, errors): (Console, Console)

    init(_ options: StoreOptions) {
        self.init(json: options.json, store: options.path)
    }

    init(json: Bool, store: FilePath, out: Console = .standardOutput, errors: Console = .standardError) {
        self.json = json
        self.store = store
        (self.out, self.errors) = (out, errors)
    }

    /// - Parameters:
    ///   - file: where the URL stands, in place of what is printed.
    ///   - isSecret: whether others may read what is printed, so that neither token nor host is.
    func listening(_ address: LocalServer.Address, urlIn file: String?, isSecret: Bool) {
        if address.token != nil, address.host == LocalServer.Address.sharedHost {
            errors.line(
                "warning: pages are served on 127.0.0.1, whose cookies go to every port of this machine, other users' too"
            )
            errors.line(
                "hint: `patchsync set --own-host` gives them a host of their own; storage starts anew"
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
                "patchsync: listening on port \(address.port); this is the journal, so the URL, which lets in whoever has it, is not "
                    + "printed (--url-file FILE, or --print-url)",
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

    func take(_ event: LocalServer.Event) {
        switch event {
        case .app(let event): take(event)
        case .syncing: break
        case .fileTrouble(let line): errors.line(line)
        case .portTaken(let port, let next):
            errors.line(
                "warning: port \(port) is taken; trying \(next). The origin changes: pages lose cookies and storage."
            )
        case .synced(.success(let report)):
            let what = report.staging == .staged ? "something new is here" : "nothing new"
            say(
                "synced",
                (["synced: release \(report.roleVersion), \(what)"] + report.putOff.map(\.words)
                    + report.awaiting.map { "\($0.label) waits for approval" }).joined(separator: "; "),
                [
                    ("roleVersion", .integer(report.roleVersion)), ("isNew", .bool(report.staging == .staged)),
                    ("putOff", report.putOff.isEmpty ? nil : .array(report.putOff.map(\.json))),
                    ("awaiting", report.awaiting.isEmpty ? nil : .array(report.awaiting.map(\.json))),
                ]
            )
            for failure in report.failures {
                trouble("\(failure.patchID) \(failure.version): \(failure.error.description)")
            }
        case .synced(.failure(let error)): trouble("sync: \(error.description)")
        case .parametersTrouble(let error): trouble("the last good parameters stay: \(error.description)")
        }
    }

    private func trouble(_ text: String) {
        say("trouble", "trouble: \(printable(text))", [("error", .text(text))])
    }

    private func take(_ event: RunningApp.Event) {
        switch event {
        case .nothingInstalled:
            say("nothingInstalled", "nothing is installed yet")
        case .serving(let selection, let trial):
            let how = trial.map { "on trial; confirm: \($0.hint(store))" } ?? "confirmed"
            say(
                "serving",
                "serving \(selection.words) (\(how))",
                [
                    ("patches", .array(selection.patches.map(\.words))), ("launch", trial.map { .text($0.text) }),
                    ("selection", .integer(selection.number)),
                ]
            )
        case .following(let channel):
            say("following", "follows channel \(channel) now", [("channel", .text(channel.text))])
        case .withdrawn(let ids):
            say(
                "withdrawn",
                "withdrawn: \(ids.map(\.text).joined(separator: ", "))",
                [("patches", .array(ids.map { .text($0.text) }))]
            )
        case .damaged(let files):
            say(
                "damaged",
                "damaged, not served until the next sync heals them: \(printable(files.joined(separator: ", ")))",
                [("files", .array(files.map { .text($0) }))]
            )
        case .confirmed(let selection):
            say("confirmed", "confirmed: \(selection.words)", [("patches", .array(selection.patches.map(\.words)))])
        case .rolledBack(let good, let bad):
            say(
                "rolledBack",
                "rolled back to \(good?.words ?? "nothing") from \(bad.words)",
                [("to", good.map { .array($0.patches.map(\.words)) }), ("from", .array(bad.patches.map(\.words)))]
            )
        case .unproven(let selection):
            say(
                "unproven",
                "not confirmed in time: \(selection.words); it stays, for there is nothing to go back to. It may confirm yet, "
                    + "and a newer release takes its place",
                [("patches", .array(selection.patches.map(\.words)))]
            )
        case .bundleMissing(let id, let there):
            let names = there.map(\.text).joined(separator: ", ")
            say(
                "bundleMissing",
                "trouble: no bundle \(id) is in what runs; there is \(names) (--bundle)",
                [("bundle", .text(id.text)), ("bundles", .array(there.map { .text($0.text) }))]
            )
        case .stateFault(let fault):
            say("stateFault", "trouble: \(printable(fault.description))", fault.members)
        case .parametersChanged(let parameters):
            say(
                "parameters",
                "parameters: \(parameters.values.count) of \(parameters.channel)",
                [("channel", .text(parameters.channel.text)), ("parameters", parameters.values.json)]
            )
        case .trouble(let error):
            trouble(error.description)
        }
    }

    private func say(_ event: String, _ text: String, _ members: [(String, JSON?)] = []) {
        out.line(json ? JSON.fields([("event", .text(event))] + members).line : text)
    }
}

extension InstalledPatch {
    fileprivate var words: JSON {
        .fields([("patchId", .text(patchID.text)), ("version", .text(version.text))])
    }
}
