import PatchChoice
import ArgumentParser
import CommandKit
import DeviceOutput
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import ReleaseFolder
import SystemPackage

struct SetFactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change this device's settings: facts for rules, servers, policy. Prints the settings.",
        discussion: """
            The next sync uses the settings. Rules apply to new versions: a change removes
            no installed version, except those not listed for the new app version. A new
            app version or native part discards the pending version; the next sync chooses
            again. An empty value ('') removes a setting.

            Each of --mirror, --ca and --pin replaces all of its earlier values. Before a
            server changes its key, pin the new key beside the old one.

            Conditions also know ios, iosver and ispad: 0.0, 0 and 0 unless --data sets
            them.

            With --embedded you name the new place of the folder of `patchsign embed`.
            Other content counts as another build of the app: the device then starts over
            from it.

            On a --metered network, syncs (also those of a running `patchsync serve`)
            download mandatory versions and those they require, and others only within
            --allowance. `patchsync status` lists the versions that wait.

            With --consent, versions that need approval are downloaded only after
            `patchsync approve`. Outside --window, and during a postponement of at most
            --postpone-limit, new versions do not start. Mandatory versions do not wait.
            Withdrawn versions are always removed.

            EXAMPLES
              patchsync set --store /var/lib/app --user-file user.txt --data region=eu --data isMale=1
              patchsync set --store /var/lib/app --platform ios --compatibility 0abe549f --app-version 2.1
              patchsync set --store /var/lib/app --unset region --user ''
              patchsync set --store /var/lib/app --host localhost
              patchsync set --store /var/lib/app --answers
              patchsync set --store /var/lib/app --metered --allowance 20kB --limit-rate 500kB
              patchsync set --store /var/lib/app --entry-signatures manifest
              patchsync set --store /var/lib/app --consent security --window 'mon-fri 02:00-04:00'
              patchsync set --store /var/lib/app --mirror https://a.example.net --mirror https://b.example.net --ca ''
              patchsync set --store /var/lib/app --embedded /opt/app-2.1/patchline
            """
                + exitCodes(
                    [:],
                    usual: .done,
                    .disk,
                    .busy
                )
    )

    @OptionGroup var options: StoreOptions
    @OptionGroup(title: "Device") var facts: FactOptions
    @OptionGroup(title: "Server") var servers: ServerOptions

    @OptionGroup(title: "Metered") var metered: MeteredOptions
    @OptionGroup(title: "Limits") var share: ShareOptions
    @OptionGroup(title: "Approval") var policy: PolicyOptions

    @Option(name: .long, help: ArgumentHelp("Remove this key of the data. Repeatable.", valueName: "key"))
    var unset: [String] = []

    @Option(name: .long, help: ArgumentHelp("The app's folder of `patchsign embed`.", valueName: "dir"))
    var embedded: String?

    func validate() throws {
        for key in unset where ConditionKey(key) == nil { throw ValidationError("--unset \(ConditionKey.rule)") }
    }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let change = try settings()
        let device = try options.device
        let before = device.configuration
        try checkEmbedded()
        let configuration = try await reporting { () throws(SyncError) in
            try await device.store.changingConfiguration { configuration throws(SyncError) in
                try change.apply(to: &configuration)
                if let embedded { configuration.embedded = FilePath(asNamed: embedded) }
            }
        }
        if embedded != nil { _ = try await options.opened() }
        warn(ofKeysNotIn: before)
        if options.json {
            Console.standardOutput.line(configuration.facts.line)
        } else {
            configuration.printFacts(servedBy: device.store.runningServers)
        }
    }
}

extension SetFactsCommand {
    private func settings() throws(Failure) -> DeviceSettings {
        let facts = try facts.withFiles()
        let authorities = try servers.authorities()
        do throws(ValidationError) {
            var given = GivenOptions()
            try facts.add(to: &given, unset: unset)
            try servers.add(to: &given, authorities: authorities)
            try metered.add(to: &given)
            try share.add(to: &given)
            try policy.add(to: &given)
            return try given.settings()
        } catch {
            // The options alone were checked before.
            throw Failure(facts.named(error), code: .malformed)
        }
    }

    /// Checks that the folder exists.
    ///
    /// Otherwise each start would look for it without an error.
    private func checkEmbedded() throws(Failure) {
        guard let path = embedded.map({ FilePath(asNamed: $0) }) else { return }
        do throws(ReleaseError) { _ = try EmbeddedFolder(path, files: DiskFiles()) } catch .missing {
            throw Failure(
                "--embedded: \(path) is not a folder of `patchsign embed`: there is no \(EmbeddedLayout.document) in it",
                hint: "nothing was changed; name the folder that ships with the app.",
                code: .disk
            )
        } catch { throw Failure(.embedded(path, error)) }
    }

    private func warn(ofKeysNotIn before: DeviceConfiguration) {
        for key in unset.compactMap({ ConditionKey($0) }) where before.data[key] == nil {
            let known = before.data.keys.sorted().map(\.text)
            Console.standardError.line(Self.warning(of: key, known))
        }
    }
}

extension SetFactsCommand {
    static func warning(of key: ConditionKey, _ known: [String]) -> String {
        "warning: --unset \(key): nothing was set under this key; "
            + (known.isEmpty ? "no data is set" : "set is \(known.joined(separator: ", "))")
    }
}

extension DeviceConfiguration {
    /// - Parameter servers: The programs that serve the store now. They use their initial settings until they end.
    func printFacts(servedBy servers: [RunningServer], on out: Console = .standardOutput) {
        out.line("app version: \(appVersion?.text ?? "not set")")
        out.line("user: \(user.map { printable($0.text) } ?? "not set")")
        out.line("native part: \(platform.map { "\($0.name) \($0.compatibility)" } ?? "not set")")
        for (key, value) in data.sorted(by: { $0.key < $1.key }) { out.line("data: \(key)=\(printable(value.text))") }
        out.line("selections kept besides the present one: \(keep)")
        if let reserve { out.line("disk reserve: \(Words.bytes(reserve))") }
        let later = servers.first { $0.host != pages.host }
            .map { " from the next start of `patchsync serve` on (process \($0.process) keeps its settings)" }
        if pages.host.isShared {
            out.line(
                "pages: on \(pages.text), whose cookies every port of this machine receives\(later.map { ";\($0)" } ?? "")"
            )
        } else if let later {
            out.line("pages: on a host of their own\(later)")
        }
        if answers { out.line("the server is asked for its choice for this user") }
        if debug { out.line("debug mode: local scripts may be run (`patchsync eval`, `patchsync console`)") }
        if !express { out.line("metadata: downloaded file by file") }
        out.line(entrySignatures.words ?? "entry signatures: of every list entry, and of every file of a bundle")
        if let words = network.words { out.line("network: \(words)") }
        for words in policy.words { out.line(words) }
        if let embedded { out.line("embedded release: \(embedded)") }
        for mirror in access.mirrors { out.line("mirror: \(mirror)") }
        for pin in access.pins { out.line("pinned key: \(pin)") }
        if access.authorities != nil { out.line("authorities: own, not the system's") }
    }
}
