import ArgumentParser
package import CommandKit
package import PatchFormat
import PatchStore
import SystemPackage

/// The simulated devices, and the changes of the dial.
package struct SimulationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The kinds of devices. Default: new ones.", valueName: "fleet.yaml"))
    var fleet: String?

    @Option(help: ArgumentHelp("The number of devices, up to 100 million.", valueName: "count"))
    var devices = 1_000_000

    @Option(help: ArgumentHelp("The seed of the devices' random numbers.", valueName: "number"))
    var seed = 1

    @Option(
        name: .customLong("dial"),
        help: ArgumentHelp("Assume this dial share for a version. Repeatable.", valueName: "patch@version=25%")
    )
    var shares: [DialedShare] = []

    @Option(help: ArgumentHelp("Assume that the dial pauses a version. Repeatable.", valueName: "patch@version"))
    var pause: [LabelArgument] = []

    @Option(help: ArgumentHelp("The simulated time. Default: now.", valueName: "YYYY-MM-DDTHH:MM:SSZ"))
    var at: UTCTime?

    @Option(help: ArgumentHelp("Write a picture of the versions before and after.", valueName: "file"))
    var svg: String?

    package init() {}

    package func validate() throws {
        guard (1...100_000_000).contains(devices) else {
            throw ValidationError("--devices must be from 1 to 100 million")
        }
        guard seed >= 0 else { throw ValidationError("--seed must not be negative") }
    }

    package func fleetOfFile() throws(Failure) -> Fleet {
        guard let fleet else { return .new }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try DiskFiles().read(FilePath(argument: fleet), limit: Fleet.fileLimit) } catch {
            throw Failure(error.description, code: .disk)
        }
        do throws(FleetError) { return try Fleet(bytes, named: fleet) } catch {
            throw Failure(error.description, code: .malformed)
        }
    }

    /// Returns the dial to simulate.
    ///
    /// - Parameter base: The published dial, or nil if there is none.
    /// - Throws: For a version that is not listed.
    package func dial(
        over entries: [PatchEntry],
        app: AppID,
        channel: ChannelName,
        base: Dial? = nil
    ) throws(Failure) -> Dial {
        var rows = base?.rows ?? []
        for (label, share, isPaused) in shares.map({ ($0.label, Optional($0.share), false) })
            + pause.map({ ($0.label, nil, true) })
        {
            guard let entry = entries.first(where: { $0.label == label }) else {
                throw Failure(
                    "\(label) is not listed",
                    hint: "name a version of the list: PATCH@VERSION",
                    code: .refused
                )
            }
            let place = rows.firstIndex { $0.patchID == label.patchID && $0.sha256 == entry.fingerprint.sha256 }
            let old = place.map { rows[$0] }
            let row = Dial.Row(
                patchID: label.patchID,
                sha256: entry.fingerprint.sha256,
                rollout: share?.tenThousandths ?? old?.rollout ?? 10_000,
                paused: isPaused || old?.paused == true,
                reason: old?.reason,
                headcount: old?.headcount
            )
            if let place { rows[place] = row } else { rows.append(row) }
        }
        return Dial(app: app, channel: channel, rows: rows)
    }

    /// Runs the simulation and writes the result.
    package func run(
        _ entries: [PatchEntry],
        withdrawn: [PatchID: Set<SHA256Digest>],
        dial: Dial,
        fleet: Fleet,
        json: Bool
    ) async throws(Failure) {
        let simulation = Simulation(
            entries,
            withdrawn: withdrawn,
            dial: dial,
            fleet: fleet,
            seed: UInt64(seed),
            time: at ?? ProcessEnvironment.now()
        )
        let result = await simulation.run(devices: devices)
        if let svg {
            do throws(FileError) { try DiskFiles().write(Array(result.svg.utf8), to: FilePath(argument: svg)) } catch {
                throw Failure(error.description, code: .disk)
            }
        }
        let out = Console.standardOutput
        if json { out.line(result.json.pretty()) } else { result.write(to: out) }
    }
}

/// A version on the command line: `web@1.4.2`.
package struct LabelArgument: ExpressibleByArgument {
    let label: Label

    package init?(argument: String) {
        let parts = argument.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let id = PatchID(parts[0]), let version = VersionLabel(parts[1]) else { return nil }
        label = Label(patchID: id, version: version)
    }
}

/// A version with its share: `web@1.4.2=25%`.
package struct DialedShare: ExpressibleByArgument {
    let label: Label
    let share: RolloutShare

    package init?(argument: String) {
        guard let cut = argument.lastIndex(of: "="), let name = LabelArgument(argument: String(argument[..<cut])),
            let share = RolloutShare(String(argument[argument.index(after: cut)...]))
        else { return nil }
        (label, self.share) = (name.label, share)
    }
}

extension SimulationResult {
    /// Writes a row for each version, and bars of the versions on the devices before and after.
    package func write(to console: Console) {
        console.line("\(Words.count(devices, "device")), seed \(seed)")
        var table = Table([
            "PATCH", "VERSION", Table.Column("TAKE IT", .right), "", Table.Column("HAVE IT", .right), "",
            "WHY OTHERS DO NOT",
        ])
        for row in rows {
            table.add([
                .init(row.label.patchID.text), .init(row.label.version.text),
                .init(Words.grouped(row.takers)), .init(row.takers == 0 ? "" : percent(row.takers)),
                .init(Words.grouped(row.keepers)), .init(row.keepers == 0 ? "" : percent(row.keepers)),
                .init(row.others),
            ])
        }
        table.write(to: console)
        guard !rows.isEmpty else { return console.line("it lists nothing") }
        console.line("")
        for line in bars() { console.line(line) }
    }
}

extension SimulationResult.Row {
    /// The most frequent other outcomes first: `rollout 550,001, appVersion 199,887; below 40`.
    fileprivate var others: String {
        let rest = outcomes.filter { !["taken", "installed", "passedOver"].contains($0.key) }
        return [reasons, rest].map { counts in
            counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \(Words.grouped($0.value))" }.joined(separator: ", ")
        }.filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
