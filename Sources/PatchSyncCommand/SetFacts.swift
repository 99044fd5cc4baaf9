import ArgumentParser
import CommandSupport
import PatchFormat
import PatchSync
import Terminal

struct SetFacts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Tell the device what rules are judged by: user, data, app version, native part. Prints what is set.",
        discussion: """
            The next sync goes by it. Rules gate what is new: nothing that is installed is taken away by a change here,
            except what is not listed for another app version. A new app version or native part drops what waits for the
            next launch; the next sync chooses again. An empty value ('') forgets what was set.

            Conditions also know ios, iosver and ispad: 0.0, 0 and 0 unless --data sets them.

            EXAMPLES
              patchsync set --store /var/lib/app --user alice --data region=eu --data isMale=1
              patchsync set --store /var/lib/app --platform ios --compatibility 0abe549f --app-version 2.1
              patchsync set --store /var/lib/app --unset region --user ''

            EXIT CODES: 0 done · 6 disk or store · 7 busy · 64 usage
            """
    )

    @OptionGroup var options: StoreOptions
    @OptionGroup var facts: FactOptions

    @Option(name: .long, help: ArgumentHelp("Forget this key of the data; may be repeated.", valueName: "key"))
    var unset: [String] = []

    func validate() throws {
        for key in unset where ConditionKey(key) == nil { throw ValidationError("--unset \(ConditionKey.rule)") }
    }

    func run() async throws {
        var changes = try facts.changes()
        for key in unset.compactMap({ ConditionKey($0) }) { changes.data[key] = .forget }
        try await ending(json: options.json) { [changes] () throws(Failure) in try await work(changes) }
    }

    private func work(_ changes: FactChanges) async throws(Failure) {
        let device = try options.device
        let configuration = try await reporting { () throws(SyncError) in
            try await device.store.changingConfiguration { configuration throws(SyncError) in
                changes.apply(to: &configuration)
            }
        }
        if options.json {
            Console.standardOutput.line(configuration.facts.line)
        } else {
            configuration.printFacts()
        }
    }
}

extension DeviceConfiguration {
    /// What rules are judged by, as scripts read it.
    fileprivate var facts: JSON {
        .fields([
            ("appVersion", appVersion.map { .text($0.text) }), ("user", user.map { .text($0.text) }),
            ("data", dataJSON),
            ("platform", platform?.json), ("keep", .integer(keep)),
        ])
    }

    fileprivate func printFacts() {
        let out = Console.standardOutput
        out.line("app version: \(appVersion?.text ?? "not set")")
        out.line("user: \(user.map { printable($0.text) } ?? "not set")")
        out.line("native part: \(platform.map { "\($0.name) \($0.compatibility)" } ?? "not set")")
        for (key, value) in data.sorted(by: { $0.key < $1.key }) { out.line("data: \(key)=\(printable(value.text))") }
        out.line("selections kept besides the present one: \(keep)")
    }
}
