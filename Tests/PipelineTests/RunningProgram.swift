import Subprocess
import SystemPackage

/// A program that runs beside the test: what it printed so far, and signals to it.
struct RunningProgram: Sendable {
    let command: String
    /// Of its process.
    let id: Int32
    fileprivate let transcript: Transcript
    fileprivate let signal: @Sendable (Signal) throws -> Void

    var text: String {
        get async { await transcript.lines.joined(separator: "\n") }
    }

    var hasEnded: Bool {
        get async { await transcript.hasEnded }
    }

    /// The first line with `part` in it, from line `start` on.
    func line(with part: String, from start: Int = 0, within deadline: Duration = patience) async throws -> String {
        try await eventually("'\(part)' from \(command)", within: deadline, seen: { await text }) {
            if let line = await transcript.lines.dropFirst(start).first(where: { $0.contains(part) }) { return line }
            if await transcript.hasEnded {
                throw ToolTrouble.never("'\(part)' from \(command), which ended", seen: await text)
            }
            return nil
        }
    }

    /// How many lines there are: where to look from for what comes next.
    var lineCount: Int {
        get async { await transcript.lines.count }
    }

    /// Ends it as a power cut would.
    func kill() async throws {
        if await hasEnded { return }
        try signal(.kill)
        try await end()
    }

    func send(_ signal: Signal) throws {
        try self.signal(signal)
    }

    /// A signal, and its end.
    func end(by signal: Signal) async throws {
        try self.signal(signal)
        try await end()
    }

    /// SIGTERM, and its end.
    func stop() async throws {
        try signal(.terminate)
        try await end()
    }

    /// Waits until it has ended by itself.
    func end(within deadline: Duration = patience) async throws {
        _ = try await eventually("the end of \(command)", within: deadline, seen: { await text }) {
            await transcript.hasEnded ? true : nil
        }
    }
}

private actor Transcript {
    private(set) var lines: [String] = []
    private(set) var hasEnded = false

    func add(_ line: String) { lines.append(line) }
    func end() { hasEnded = true }
}

/// Runs a program while `body` runs, then sends it SIGTERM and waits for its end.
///
/// - Returns: what `body` returned, and how the program ended.
func running<Value: Sendable>(
    _ tool: Tool,
    _ arguments: [String],
    environment: [Environment.Key: String?] = [:],
    deadline: Duration = patience * 4,
    _ body: @escaping @Sendable (RunningProgram) async throws -> Value
) async throws -> (Value, Outcome) {
    let command = (["\(tool)"] + arguments).joined(separator: " ")
    let executable = try tool.executable
    let transcript = Transcript()
    return try await within(deadline, command) {
        let result = try await Subprocess.run(
            executable,
            arguments: Arguments(arguments),
            environment: .inherit.updating(environment),
            input: .none,
            output: .sequence,
            error: .combinedWithOutput
        ) { execution in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        for try await line in execution.standardOutput.strings() { await transcript.add(line) }
                    } catch {
                        await transcript.add("cannot read on: \(error)")
                    }
                    await transcript.end()
                }
                let program = RunningProgram(
                    command: command,
                    id: execution.processIdentifier.value,
                    transcript: transcript
                ) {
                    try execution.send(signal: $0)
                }
                do {
                    let value = try await body(program)
                    if await !transcript.hasEnded { try execution.send(signal: .terminate) }
                    try await group.waitForAll()
                    return value
                } catch {
                    try? execution.send(signal: .kill)
                    throw error
                }
            }
        }
        let output = await transcript.lines.joined(separator: "\n")
        return (
            result.closureResult,
            Outcome(command: command, status: result.terminationStatus, output: output, errors: "")
        )
    }
}
