package import ArgumentParser
import PatchCrypto
package import PatchFormat

/// The parsed command line, before a command runs.
package enum CommandLineReading {
    case runs(any ParsableCommand)
    /// The version or a help text.
    case prints(String)
    case fails(Failure)
    /// The parser's own message: a command line that it could not parse, or another request to the parser.
    case answers(any Error, text: String)
}

extension AsyncParsableCommand {
    /// Runs the program with this root command.
    ///
    /// Help, version and errors have the same form in all programs.
    ///
    /// - Parameter prepare: Called before the command runs, and before any task of the program starts.
    package static func runProgram(
        _ arguments: [String],
        _ prepare: (any ParsableCommand) throws(Failure) -> Void = { _ in }
    ) async {
        Console.occupyClosedStreams()
        CryptoLibrary.outliveExit()
        let mistakes = UsageMistake(arguments)
        if let failure = UnreadableNames.ofThisProcess.failure { end(failure, mistakes) }
        let console = Console.standardOutput
        switch reading(arguments, columns: min(console.width, HelpText.widest)) {
        case .runs(var command):
            do throws(Failure) { try prepare(command) } catch { end(error, mistakes) }
            do {
                if var command = command as? any AsyncParsableCommand {
                    try await command.run()
                } else {
                    try command.run()
                }
            } catch {
                // A validation error of a running command is not a syntax error, so the parser's usage text is omitted.
                let message = message(for: error)
                guard exitCode(for: error) == .validationFailure, !message.isEmpty else {
                    end(error, fullMessage(for: error))
                }
                end(Failure(message, code: .usage), mistakes)
            }
        case .prints(let text):
            console.line(text)
            exit()
        case .fails(let failure): end(failure, mistakes)
        case .answers(let error, let text):
            if exitCode(for: error) == .validationFailure {
                mistakes.printJSON(Failure(message(for: error), code: .usage))
            }
            end(error, text)
        }
    }

    private static func end(_ failure: Failure, _ mistakes: UsageMistake) -> Never {
        mistakes.printJSON(failure)
        failure.report(to: .standardError)
        exit(withError: failure.code.asError)
    }

    /// Writes `error: `, as all programs do, instead of the parser's `Error: `.
    private static func end(_ error: any Error, _ text: String) -> Never {
        guard let text = text.withoutParsersError else { exit(withError: error) }
        Console.standardError.line("error: " + text)
        exit(withError: exitCode(for: error))
    }

    /// - Parameter columns: The widest line of a help text.
    package static func reading(_ arguments: [String], columns: Int) -> CommandLineReading {
        guard arguments != ["--version"] else { return .prints(Product.version) }
        guard arguments != ["help", "topics"] else {
            return .prints(HelpText(HelpTopics.text(of: _commandName)).lines(columns: columns).joined(separator: "\n"))
        }
        let asked = CommandPath(arguments, of: Self.self)
        let words = arguments.first == "help" ? Array(arguments.dropFirst()) : arguments
        let whole = words != arguments || asked.isWholeGroup ? words + ["--help"] : arguments
        if let failure = asked.unknown, !asked.hasDefault { return .fails(failure) }
        do {
            var command = try parseAsRoot(whole)
            // The parser's own help command, which throws the requested help.
            if "\(type(of: command))" == "HelpCommand" { try command.run() }
            return .runs(command)
        } catch {
            // The text is wide enough that the parser breaks no line. It is requested once, because the parser makes all of the
            // help each time.
            let text = fullMessage(for: error, columns: 100_000)
            if text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") {
                let all = asked.completed(text)
                let help = arguments.first == "help" ? all : HelpSummary(all, of: asked.typed).text
                return .prints(HelpText(help).lines(columns: columns).joined(separator: "\n"))
            }
            guard text.withoutParsersError != nil else { return .answers(error, text: text) }
            if let failure = asked.unknown, failure.hint != nil { return .fails(failure) }
            if let failure = UsageMistake(whole).failure(message(for: error)) { return .fails(failure) }
            return .answers(error, text: text)
        }
    }
}

extension String {
    /// The text after the parser's prefix of an error, or nil if there is no such prefix.
    fileprivate var withoutParsersError: Substring? {
        hasPrefix("Error: ") ? dropFirst("Error: ".count) : nil
    }
}
