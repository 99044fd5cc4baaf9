import Subprocess
import Synchronization
import SystemPackage

/// How a program ended and what it printed.
struct Outcome: Sendable, CustomStringConvertible {
    let command: String
    let status: TerminationStatus
    let output: String
    let errors: String

    /// Nil when a signal ended it.
    var code: Int32? {
        if case .exited(let code) = status { code } else { nil }
    }

    var wasKilled: Bool { status == .signaled(9) }
    var wasTerminated: Bool { status == .signaled(15) }
    var text: String { output + errors }

    var description: String { "\(command)\n\(status)\n\(text)" }

    /// For steps that only prepare: the test ends here when one fails.
    @discardableResult
    func done() throws(ToolTrouble) -> Outcome {
        guard code == 0 else { throw .failed("\(self)") }
        return self
    }
}

private let runs = Atomic(0)

/// Ends a wait for a process that hangs.
///
/// No rule depends on it: it is ten times as long as a busy machine with two cores needs.
let patience = Duration.seconds(300)

/// Runs a program to its end, without memory of what servers showed before unless `environment` names a folder for it.
///
/// - Parameter deadline: after it the program is killed and the test fails.
func run(
    _ tool: Tool,
    _ arguments: [String],
    environment: [Environment.Key: String?] = [:],
    in folder: FilePath? = nil,
    deadline: Duration = patience
) async throws -> Outcome {
    let command = (["\(tool)"] + arguments).joined(separator: " ")
    let executable = try tool.executable
    // Servers of other tests had the same address: what they showed is no business of this run.
    let state = Workshop.folder.appending("states").appending("\(runs.add(1, ordering: .relaxed).newValue)")
    let environment = ["XDG_STATE_HOME": state.string].merging(environment) { $1 }
    return try await within(deadline, command) {
        var options = PlatformOptions()
        options.teardownSequence = []
        let result = try await Subprocess.run(
            executable,
            arguments: Arguments(arguments),
            environment: .inherit.updating(environment),
            workingDirectory: folder,
            platformOptions: options,
            output: .string(limit: 4_000_000),
            error: .string(limit: 4_000_000)
        )
        return Outcome(
            command: command,
            status: result.terminationStatus,
            output: result.standardOutput,
            errors: result.standardError
        )
    }
}

/// Cancels `work`, which kills what it runs, when it takes longer than `deadline`.
func within<Value: Sendable>(
    _ deadline: Duration,
    _ what: String,
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: deadline)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let value = first else { throw ToolTrouble.late(what) }
        return value
    }
}

/// Asks until there is an answer: for what another process does and does not announce.
func eventually<Value>(
    _ what: String,
    within deadline: Duration = patience,
    seen: () async -> String = { "" },
    _ answer: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now.advanced(by: deadline)
    while true {
        if let value = try await answer() { return value }
        guard ContinuousClock.now < end else { throw ToolTrouble.never(what, seen: await seen()) }
        try await Task.sleep(for: .milliseconds(10))
    }
}
