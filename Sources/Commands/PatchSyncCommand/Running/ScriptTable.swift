import Linux
import CommandKit
import Dispatch
import FoundationEssentials
import PatchFormat
import SystemPackage

/// Runs the active scripts of a store on a sample host whenever the active versions change, and prints their states.
///
/// The engine has its own process, so a script that hangs or crashes does not affect the server.
struct ScriptTable: Sendable {
    private static let (timeout, limit) = (60, 1_000_000)

    private let program: FilePath
    private let store: FilePath
    private let events: LaunchEvents
    /// Runs one job after the other.
    private let queue = DispatchQueue(label: "patchline.scripts")

    init(of store: FilePath, events: LaunchEvents) throws(Failure) {
        program = try EngineProgram.path()
        self.store = store
        self.events = events
    }

    /// Starts a run, and returns at once.
    func run() {
        queue.async {
            do throws(ChildProcessError) { events.scripts(.success(try states())) } catch {
                events.scripts(.failure(error))
            }
        }
    }

    private func states() throws(ChildProcessError) -> [ScriptState] {
        let outcome = try ChildProcess.run(
            [program.string, "run", "--json", "--store", store.string],
            environment: ProcessInfo.processInfo.environment.map { "\($0)=\($1)" },
            timeout: Self.timeout,
            limit: Self.limit
        )
        do throws(FormatError) {
            let document = try JSON.document(outcome.output, named: "patchscript", limit: Self.limit)
            var states: [ScriptState] = []
            for row in try Fields(document, of: "patchscript").array("patches", limit: Limits.patchesInList) {
                states.append(try ScriptState(try Fields(row, of: "patchscript", at: "patches")))
            }
            return states
        } catch { throw .exited(status: outcome.status) }
    }
}

/// The state of one script on the sample host.
struct ScriptState: Equatable, Sendable {
    let patchID: String
    let version: String
    let state: String
    let failure: String?

    init(patchID: String, version: String, state: String, failure: String?) {
        (self.patchID, self.version, self.state, self.failure) = (patchID, version, state, failure)
    }

    init(_ fields: Fields) throws(FormatError) {
        patchID = try fields.string("patchId")
        version = try fields.string("version")
        state = try fields.string("state")
        failure = try fields.optionalString("failure")
    }

    var json: JSON {
        .fields([
            ("patchId", .text(patchID)), ("version", .text(version)), ("state", .text(state)),
            ("failure", failure.map { .text($0) }),
        ])
    }
}

extension LaunchEvents {
    /// Prints the states of the scripts on the sample host.
    func scripts(_ result: Result<[ScriptState], ChildProcessError>) {
        switch result {
        case .success(let states):
            say("scripts", Self.table(states), [("patches", .array(states.map(\.json)))])
        case .failure(let error):
            let text = "patchscript ran no script: \(error)"
            say("trouble", isTrouble: true, "trouble: \(printable(text))", [("error", .text(text))])
        }
    }

    static func table(_ states: [ScriptState]) -> String {
        guard !states.isEmpty else { return "scripts: none is for programs" }
        var table = Table(["PATCH", "VERSION", "STATE", "WHY"])
        for state in states {
            table.add([.init(state.patchID), .init(state.version), .init(state.state), .init(state.failure ?? "")])
        }
        return (["scripts on the sample host:"] + table.lines(on: .standardOutput)).joined(separator: "\n")
    }
}
