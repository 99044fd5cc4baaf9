package import ArgumentParser
import PatchFormat
import Terminal

extension AsyncParsableCommand {
    /// Runs one of the three programs, whose root command this is: help, version and mistakes look alike in all.
    package static func runProgram(_ arguments: [String]) async {
        let mistakes = UsageMistake(arguments)
        guard arguments != ["--version"] else { return Console.standardOutput.line(Product.version) }
        let asked = CommandPath(arguments, of: Self.self)
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        let arguments = words != arguments || asked.isWholeGroup ? words + ["--help"] : arguments
        if let failure = asked.unknown, !asked.hasDefault { end(failure, mistakes) }
        // Parsed here for what it says, and again by the parser that runs it.
        do {
            var command = try parseAsRoot(arguments)
            // The parser's own, which throws the help that it was asked for.
            if "\(type(of: command))" == "HelpCommand" { try command.run() }
        } catch {
            if exitCode(for: error) == .validationFailure, let failure = asked.unknown, failure.hint != nil {
                end(failure, mistakes)
            }
            if let failure = mistakes.failure(message(for: error)) { end(failure, mistakes) }
            end(error, asked, mistakes)
        }
        await main(arguments)
    }

    private static func end(_ failure: Failure, _ mistakes: UsageMistake) -> Never {
        mistakes.tellScripts(failure)
        failure.report(to: .standardError)
        exit(withError: failure.exitCode.ending)
    }

    private static func end(_ error: any Error, _ asked: CommandPath, _ mistakes: UsageMistake) -> Never {
        // Wide enough that the parser breaks no line.
        let text = fullMessage(for: error, columns: 100_000)
        guard exitCode(for: error) == .success, text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") else {
            if exitCode(for: error) == .validationFailure {
                mistakes.tellScripts(Failure(message(for: error), exitCode: .usage))
            }
            exit(withError: error)
        }
        let console = Console.standardOutput
        let lines = HelpText(asked.completed(text)).lines(columns: min(console.width, HelpText.widest))
        console.line(lines.joined(separator: "\n"))
        exit()
    }
}
