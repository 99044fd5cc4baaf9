import Linux
import FoundationEssentials
import PatchFormat
package import SystemPackage

/// How the syntax of a release's scripts is checked.
package enum ScriptParsing: Sendable {
    /// No check.
    case none
    /// The program for the check is not installed.
    case notInstalled
    case by(ScriptParser)
}

/// Runs `patchscript check --json`, which contains the engine that scripts run in.
package struct ScriptParser: Sendable {
    /// A syntax error of a script.
    struct Mistake: Equatable, Sendable {
        /// Counted from 1, if known.
        let (line, column): (Int?, Int?)
        let message: String
    }

    static let (timeout, limit) = (60, 4_000_000)
    /// Only the variables needed to find libraries and folders: the environment may contain passphrases.
    private static var environment: [String] {
        let all = ProcessInfo.processInfo.environment
        return ["PATH", "LD_LIBRARY_PATH", "LANG", "TMPDIR"].compactMap { name in all[name].map { "\(name)=\($0)" } }
    }

    private let program: FilePath

    package init(_ program: FilePath) { self.program = program }

    /// The syntax errors of `scripts`.
    func mistakes(in scripts: [FilePath]) throws(ChildProcessError) -> [FilePath: Mistake] {
        let outcome = try ChildProcess.run(
            [program.string, "check", "--json", "--"] + scripts.map(\.string),
            environment: Self.environment,
            timeout: Self.timeout,
            limit: Self.limit
        )
        do throws(FormatError) {
            var mistakes: [FilePath: Mistake] = [:]
            let document = try JSON.document(outcome.output, named: "patchscript", limit: Self.limit)
            for value in try Fields(document, of: "patchscript").array("scripts", limit: scripts.count) {
                let row = try Fields(value, of: "patchscript", at: "scripts")
                guard row.has("failure") else { continue }
                mistakes[FilePath(try row.string("file"))] = try Mistake(try row.fields("failure"))
            }
            return mistakes
        } catch { throw .exited(status: outcome.status) }
    }
}

extension ScriptParser.Mistake {
    fileprivate init(_ fields: Fields) throws(FormatError) {
        message = try fields.string("message")
        line = fields.has("line") ? try fields.integer("line", in: 1...Int.max) : nil
        column = fields.has("column") ? try fields.integer("column", in: 1...Int.max) : nil
    }
}
