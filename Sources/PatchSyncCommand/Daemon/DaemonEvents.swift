import CommandSupport
import DeviceOutput
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import Patchline
import SystemPackage
import Terminal

/// What `run` prints: as `serve` does, with the store's name.
struct DaemonEvents: Sendable {
    private let json: Bool
    private let (out, errors): (Console, Console)

    init(json: Bool, out: Console = .standardOutput, errors: Console = .standardError) {
        (self.json, self.out, self.errors) = (json, out, errors)
    }

    func take(_ event: StoreEvent, of store: StoreSettings) {
        let serving = LaunchEvents(json: json, store: store.store, named: store.name, out: out, errors: errors)
        switch event {
        case .made: say("made", store.name, "the store was made in \(store.store)", [])
        case .differs(let names):
            say(
                "differs",
                store.name,
                "the store has other settings than the file, and keeps them: \(names.joined(separator: "; "))",
                [("differences", .array(names.map { .text($0) }))]
            )
        case .listening(let address): listening(address, of: store, serving)
        case .app(let event): serving.take(event)
        case .proxy(let line): errors.line("\(store.name): \(printable(line))")
        case .trouble(let fault):
            let text = Failure(fault).message
            say("trouble", store.name, "trouble: \(printable(text))", [("error", .text(text))])
        }
    }

    private func listening(_ address: LocalServer.Address, of store: StoreSettings, _ serving: LaunchEvents) {
        guard let path = store.urlFile else {
            return serving.listening(address, urlIn: nil, isSecret: Journal.isStandardOutput)
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

    /// Nobody can ask; the stores are kept all the same.
    func unanswering(_ failure: Failure) {
        say(
            "trouble",
            nil,
            "trouble: nobody can ask this process: \(printable(failure.message))",
            [("error", .text(failure.message)), ("hint", failure.hint.map { .text($0) })]
        )
        if !json, let hint = failure.hint { errors.line("hint: \(printable(hint))") }
    }

    /// One that was refused or dropped.
    func client(_ line: String) { errors.line(printable(line)) }

    func reloaded(_ change: SettingsChange) {
        let names = Set(change.stopped + change.started.map(\.name)).sorted()
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
        if !json, let hint = failure.hint { errors.line("hint: \(printable(hint))") }
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

extension Failure {
    fileprivate init(_ fault: RunnerFault) {
        switch fault {
        case .device(let error): self.init(error)
        case .server(let error): self.init(error)
        case .other(let text): self.init(text)
        }
    }
}
