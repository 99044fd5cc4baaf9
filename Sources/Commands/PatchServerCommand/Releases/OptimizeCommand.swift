import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseService

/// `patchsrv optimize`: makes the small forms and packs that a publish defers.
struct OptimizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "optimize",
        abstract: "Make the small forms and packs that a publish leaves for later.",
        discussion: """
            `publish` makes fast forms, so that devices see a release within seconds.
            Smaller forms and packs follow: a running `patchsrv serve` makes them in the
            background, one release at a time; without it, use this command. Devices use
            the best form that exists. Forms that no device needs any more are removed.

            It can be interrupted at any time; the next run continues. `patchsrv status`
            shows the remaining work.

            EXAMPLES
              patchsrv optimize --data /srv/patchline
              patchsrv publish Release --data /srv/patchline --optimize      (publishes, then does the same)
              patchsrv optimize --data /srv/patchline --app com.example.storefront --json
            """
                + exitCodes(
                    [
                        .done: "nothing is left to make",
                        .refused: "the published tree does not verify",
                        .busy: "another process uses the data folder",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions
    @OptionGroup(title: "Packs") var packs: PackOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        try await reporting(json: json) {
            var done: [JSON] = []
            for app in try apps.apps(in: folder.folder) {
                let operations = packs.adjust(try folder.folder.operations()).showingProgress(of: app)
                let result = try await Optimizer(operations).optimize(app)
                if json {
                    done.append(result.json(app: app))
                } else {
                    for line in result.lines { Console.standardOutput.line("\(app): \(printable(line))") }
                }
            }
            if json { Console.standardOutput.line(JSON.fields([("apps", .array(done))]).pretty()) }
        }
    }
}

extension Optimizer.Result {
    /// The result as text, without the app.
    var lines: [String] {
        guard case .done(let outcome) = self else {
            return ["a running patchsrv serve made the small forms and packs"]
        }
        var lines: [String] = []
        if outcome.written.files > 0 {
            lines.append(
                "wrote \(Words.count(outcome.written.files, "small form or pack", "small forms and packs")), "
                    + "\(ByteText(outcome.written.bytes))"
            )
        }
        if outcome.removed.files > 0 { lines.append(outcome.removed.words) }
        return (lines.isEmpty ? ["nothing was left to make"] : lines) + outcome.leftOut.map(\.words)
    }

    func json(app: AppID) -> JSON {
        var outcome = Optimization.Outcome()
        var isElsewhere = true
        if case .done(let done) = self { (outcome, isElsewhere) = (done, false) }
        return .fields([
            ("app", .text(app.text)), ("doneElsewhere", .bool(isElsewhere)),
            ("filesWritten", .integer(outcome.written.files)), ("bytesWritten", .integer(outcome.written.bytes)),
            ("filesRemoved", .integer(outcome.removed.files)), ("bytesRemoved", .integer(outcome.removed.bytes)),
            ("leftOutPacks", outcome.leftOut.isEmpty ? nil : .array(outcome.leftOut.map(\.json))),
        ])
    }
}

extension RemovedForms {
    var words: String {
        "removed \(Words.count(files, "form or pack", "forms and packs")) that no device needs any more, \(ByteText(bytes))"
    }
}

/// Whether a running server makes small forms and packs.
struct OptimizeOptions: ParsableArguments {
    @Option(
        name: .customLong("background-optimize"),
        help: ArgumentHelp(
            "Make small forms and packs in the background; off if `patchsrv optimize` runs from cron.",
            valueName: "on|off"
        )
    )
    var optimize = OnOff.on

    /// Nil if this is switched off.
    func service(_ operations: ReleaseOperations?, _ log: ServerLog) -> BackgroundOptimizer? {
        guard let operations, optimize == .on else { return nil }
        return BackgroundOptimizer(operations) { app, result in
            switch result {
            case .success(let outcome):
                for pack in outcome.leftOut { log.say(.info, printable(pack.words), app: app) }
            case .failure(let error): log.say(.warning, Self.notMade(error), app: app)
            }
        }
    }

    static func notMade(_ error: any Error) -> String {
        printable("small forms and packs were not made: \(Failure(of: error)?.message ?? "\(error)")")
    }
}

extension ServerFolder {
    /// Whether a process is making small forms and packs for this folder.
    var isOptimized: Bool {
        guard (try? DiskFiles().status(of: optimizing)) ?? nil != nil else { return false }
        do throws(StoreLockError) {
            let lock = try StoreLock(optimizing)
            lock.release()
            return false
        } catch {
            if case .held = error { return true }
            return false
        }
    }
}
