import ArgumentParser
import CommandKit
import DeviceOutput
import HTTPCore
import NIOConcurrencyHelpers
import PatchDaemon
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import Patchline
import SystemPackage

/// `patchsync doctor`: checks a device and its environment.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check store, disk, clock, trust, servers and port, and suggest fixes.",
        discussion: """
            Changes nothing. Requests the first metadata of a sync from each server and
            checks it as a sync does. With --root, compares the store with the root of
            trust in the app. The page "When a device has trouble" explains each code.

            EXAMPLES
              patchsync doctor --store /var/lib/app
              patchsync doctor --store /var/lib/app --root root.json --json
              patchsync doctor --config /etc/patchline/patchsync.yaml
            """
                + exitCodes([
                    .done: "no faults, no warnings",
                    .refused: "faults found",
                    .due: "warnings, but no faults",
                ])
    )

    @OptionGroup var options: StoreOptions

    @Option(help: ArgumentHelp("Check each store of this settings file of `patchsync run`.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The root of trust in the app, to compare with the store's.", valueName: "file"))
    var root: String?

    @OptionGroup var build: AppBuildOption

    @Option(help: ArgumentHelp("Time limit for each server's answer, in seconds.", valueName: "seconds"))
    var within = 10

    func validate() throws {
        guard config == nil || options.store == nil else {
            throw ValidationError("--config names its stores itself: give one of it and --store")
        }
        guard (1...300).contains(within) else { throw ValidationError("--within must be from 1 to 300") }
    }

    func run() async throws {
        let code = try await runCommand(json: options.json) { () throws(Failure) in try await look() }
        if code != .done { throw code.asError }
    }

    private func look() async throws(Failure) -> ResultCode {
        HTTPFetcher.useOneEventLoop()
        var diagnosis = Diagnosis()
        if let config {
            let file = SettingsOnDisk(FilePath(asNamed: config), named: config)
            var stores: [StoreSettings] = []
            do throws(SettingsOnDisk.Fault) { stores = try file.read().stores } catch {
                diagnosis.add(.settings(Failure(error)))
            }
            for store in stores {
                var found = Diagnosis()
                try await look(at: StoreOptions.deviceStore(at: store.store), InFile(store, of: stores), &found)
                found.lines.forEach { diagnosis.add($0.of(store.name)) }
            }
        } else {
            try await look(at: StoreOptions.deviceStore(at: options.path), nil, &diagnosis)
        }
        if options.json {
            Console.standardOutput.line(diagnosis.json.line)
        } else {
            diagnosis.write(to: .standardOutput)
        }
        return diagnosis.code
    }

    /// A store in the settings of `patchsync run`, with the other stores.
    private struct InFile {
        let store: StoreSettings
        let others: [StoreSettings]

        init(_ store: StoreSettings, of stores: [StoreSettings]) {
            (self.store, others) = (store, stores.filter { $0.name != store.name })
        }

        /// Returns the name of another store with this port.
        func other(on port: Int) -> String? {
            others.first { other in
                guard other.serves, let there = try? StoreOptions.deviceStore(at: other.store).configuration() else {
                    return false
                }
                return there.pagesPort(asked: other.port) == port
            }?
            .name
        }
    }

    private func look(
        at store: DeviceStore,
        _ inFile: InFile?,
        _ diagnosis: inout Diagnosis
    ) async throws(Failure) {
        let device: Device
        do throws(SyncError) { device = try Device(store, now: ProcessEnvironment.now) } catch {
            if let files = ForeignFiles(in: store.root) { diagnosis.add(.owners(files, in: store.root)) }
            return diagnosis.add(.store(error))
        }
        try await look(at: device, inFile, &diagnosis)
    }

    private func look(at device: Device, _ inFile: InFile?, _ diagnosis: inout Diagnosis) async throws(Failure) {
        let (now, store, disk) = (device.now(), device.store, DiskFiles())
        diagnosis.add(.store(device.configuration))
        let owner = MachineFacts.owner(of: store.root)
        diagnosis.add(
            .folder(
                try? disk.status(of: store.root),
                canWrite: disk.canWrite(in: store.root),
                isReadOnly: disk.isReadOnly(store.root),
                owner: owner
            )
        )
        if let files = ForeignFiles(in: store.root) { diagnosis.add(.owners(files, in: store.root)) }
        checkState(device, &diagnosis)
        if let line = Diagnosis.Line.sync(store.syncFailure(of: device.configuration.channel), at: now) {
            diagnosis.add(line)
        }
        if let line = Diagnosis.Line.windows(device.zoneFault) { diagnosis.add(line) }
        if let space = try? DiskSpace(at: store.root) {
            let noRoom = (try? device.status().noRoom) ?? []
            diagnosis.add(.disk(space, stored: (try? device.storedBytes()) ?? 0, noRoom: noRoom))
        }
        let trust = held(by: device)
        diagnosis.add(.root(trust, difference: try difference(of: device), at: now))
        let clockTime = await checkServers(device, &diagnosis)
        diagnosis.add(.clock(now, try? trust.get(), clockTime: clockTime))
        if let line = Diagnosis.Line.proxy(MachineFacts.proxyVariables(ProcessEnvironment.environment)) {
            diagnosis.add(line)
        }
        diagnosis.add(port(of: device, inFile))
        diagnosis.add(.watches(areLeft: MachineFacts.hasWatches, limit: MachineFacts.watchLimit))
    }

    private func checkState(_ device: Device, _ diagnosis: inout Diagnosis) {
        do throws(SyncError) {
            diagnosis.add(.state(try device.store.stateFault(of: device.configuration.channel)))
            diagnosis.add(.machine(isOther: try device.isOnAnotherMachine(StoreOptions.machine)))
            let appBuild = build.appBuild.flatMap { AppBuild($0) }
            if let line = Diagnosis.Line.appBuild(isOther: try device.isForAnotherBuild(appBuild)) {
                diagnosis.add(line)
            }
        } catch { diagnosis.add(.state(error)) }
    }

    private func held(by device: Device) -> Result<Device.HeldTrust, SyncError> {
        do throws(SyncError) { return .success(try device.heldTrust()) } catch { return .failure(error) }
    }

    private func difference(of device: Device) throws(Failure) -> String? {
        guard let root else { return nil }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try DiskFiles().read(FilePath(argument: root), limit: Limits.root) } catch {
            throw Failure("\(error)", hint: "--root requires the root.json of `patchsign init`.", code: .disk)
        }
        do throws(SyncError) { return try device.differs(fromRoot: bytes) } catch { throw Failure(error) }
    }

    /// - Returns: The time of the first server that reported one.
    private func checkServers(_ device: Device, _ diagnosis: inout Diagnosis) async -> UTCTime? {
        let clockTime = NIOLockedValueBox<String?>(nil)
        var deadlines = Deadlines()
        let time = Duration.seconds(within)
        (deadlines.document, deadlines.connect, deadlines.stall) = (time, time, time)
        let (machine, servers) = (
            MachineFacts.families, [device.configuration.server] + device.configuration.access.mirrors
        )
        var lines: [Diagnosis.Line] = []
        do throws(SyncError) {
            lines = try await HTTPFetcher.with(
                serversOf: device.configuration,
                deadlines,
                onDate: { date in clockTime.withLockedValue { if $0 == nil { $0 = date } } }
            ) { [deadlines] sources throws(SyncError) in
                var lines: [Diagnosis.Line] = []
                for (server, source) in zip(servers, sources) {
                    async let name = MachineFacts.addresses(of: server.host, within: time)
                    let answer: Result<StaleMirror?, SyncError>
                    do throws(SyncError) { answer = .success(try await device.examine(source, deadlines)) } catch {
                        answer = .failure(error)
                    }
                    lines.append(.server(server, await name, machine: machine, answer))
                }
                return lines
            }
        } catch {
            // The TLS settings cannot be used at all.
            lines = [.server(servers[0], .addresses(machine), machine: machine, .failure(error))]
        }
        lines.forEach { diagnosis.add($0) }
        let now = device.now().seconds
        return clockTime.withLockedValue(\.self).flatMap { HTTPDate.seconds($0, now: now) }.map { UTCTime(seconds: $0) }
    }

    private func port(of device: Device, _ inFile: InFile?) -> Diagnosis.Line {
        if inFile?.store.serves == false { return .noPages }
        let port = device.configuration.pagesPort(asked: inFile?.store.port)
        let isNew = device.configuration.port == nil && inFile?.store.port == nil
        return .port(port, isNew: isNew, isInFile: inFile != nil, pageServer(of: device, on: port, inFile))
    }

    private func pageServer(of device: Device, on port: Int, _ inFile: InFile?) -> Diagnosis.Line.PageServer {
        guard port != 0 else { return .unused }
        if let own = device.store.runningServers.first(where: { $0.port == port }) {
            return .ours(process: own.process)
        }
        // Also while neither runs: the store that is started second cannot use the port.
        if let other = inFile?.other(on: port) { return .another(.store(other)) }
        return MachineFacts.owner(ofPort: port)
    }
}
