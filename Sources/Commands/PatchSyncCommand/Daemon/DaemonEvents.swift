import CommandKit
import DeviceOutput
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import Patchline
import SystemPackage

/// The output of `run`: as in `serve`, with the store's name.
struct DaemonEvents: Sendable {
    private let json: Bool
    private let (out, errors): (Console, Console)

    init(json: Bool, out: Console = .standardOutput, errors: Console = .standardError) {
        (self.json, self.out, self.errors) = (json, out, errors)
    }

    func take(_ event: DeviceEvent, of store: StoreSettings) {
        let serving = LaunchEvents(
            json: json,
            store: store.store,
            named: store.name,
            out: out,
            errors: errors,
            journal: Journal.isStandardOutput && !json ? Journal.entries : nil
        )
        switch event {
        case .made: say(event, store, "the store was made in \(store.store)")
        case .differs(let names):
            say(
                event,
                store,
                "the store belongs to another app or root of trust than the settings file names, and keeps its own: "
                    + names.joined(separator: "; ")
            )
        case .follows(let changes): say(event, store, "follows the settings file: \(changes.joined(separator: "; "))")
        case .removed: say(event, store, "the store in \(store.store) was removed")
        case .listening(let address): listening(address, of: store, serving)
        case .proxyLine(let line): errors.line("\(store.name): \(printable(line))")
        case .storeFailed(let failure): say(event, store, "trouble: \(printable(failure.message))")
        default: serving.take(event)
        }
    }

    private func say(_ event: DeviceEvent, _ store: StoreSettings, _ text: String) {
        say(event.name, store.name, text, event.members)
        if !json { hint(event.hint) }
    }

    private func hint(_ text: String?) {
        for line in text?.split(separator: "\n") ?? [] { errors.line("hint: \(printable(String(line)))") }
    }

    private func listening(_ address: LocalServer.Address, of store: StoreSettings, _ serving: LaunchEvents) {
        guard let path = store.urlFile else {
            return serving.listening(address, urlIn: nil, isSecret: Journal.isStandardOutput && !store.printsURL)
        }
        do throws(Failure) {
            try URLFile(path.string).write(address.url)
            serving.listening(address, urlIn: path.string, isSecret: false)
        } catch {
            say("trouble", store.name, "trouble: \(printable(error.message))", [("error", .text(error.message))])
            serving.listening(address, urlIn: nil, isSecret: true)
        }
    }

    func answering(at socket: FilePath) {
        say("answering", nil, "answers at \(printable(socket.string))", [("socket", .text(socket.string))])
    }

    /// The socket's name was removed while this process runs.
    func vanished(_ socket: FilePath) {
        let text = "the local socket \(socket) was removed and is created again"
        say("trouble", nil, "trouble: \(printable(text))", [("error", .text(text))])
    }

    /// The local socket cannot be used.
    ///
    /// The stores are served regardless.
    func unanswering(_ failure: Failure, isTriedAgain: Bool = true) {
        let again = isTriedAgain ? ", and is tried again" : ""
        say(
            "trouble",
            nil,
            "trouble: the local socket cannot be used\(again): \(printable(failure.message))",
            [("error", .text(failure.message)), ("hint", failure.hint.map { .text($0) })]
        )
        if !json { hint(failure.hint) }
    }

    /// Reports a client that was rejected or dropped.
    func client(_ line: String) { errors.line(printable(line)) }

    func reloaded(_ change: SettingsChange) {
        let names = change.names
        let what = names.isEmpty ? "nothing changed" : names.joined(separator: ", ")
        say("reloaded", nil, "settings were read again: \(what)", [("stores", .array(names.map { .text($0) }))])
    }

    func kept(_ failure: Failure) {
        say(
            "settingsKept",
            nil,
            "trouble: the settings stay as they were: \(printable(failure.message))",
            [("error", .text(failure.message)), ("hint", failure.hint.map { .text($0) })]
        )
        if !json { hint(failure.hint) }
    }

    func unwatched(_ error: FileError) {
        say(
            "trouble",
            nil,
            "trouble: \(printable(error.description)); SIGHUP has it read again",
            [
                ("error", .text(error.description))
            ]
        )
    }

    private func say(_ event: String, _ store: String?, _ text: String, _ members: [(String, JSON?)]) {
        guard !json else {
            return out.line(JSON.fields([("event", .text(event)), ("store", store.map { .text($0) })] + members).line)
        }
        out.line(store.map { "\($0): \(text)" } ?? text)
    }
}
