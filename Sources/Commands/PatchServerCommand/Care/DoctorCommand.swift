import ArgumentParser
import CommandKit
import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ServerRecords
import SystemPackage

/// `patchsrv doctor`: checks the environment of a server.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check disk, clock, folder, lock, keys, roles, TLS and ports, and suggest fixes.",
        discussion: """
            Changes nothing. Pass the options of your `patchsrv serve` to check its needs:
            that the passphrase opens the online key, that certificate and key match and
            are valid, and that the ports are free or answered by patchsrv.

            EXAMPLES
              patchsrv doctor --data /srv/patchline
              patchsrv doctor --data /srv/patchline --port 443 --passphrase-file /etc/patchline/online.pass \\
                --tls-certificate /etc/ssl/patches.pem --tls-key /etc/ssl/patches.key --json
            """
                + exitCodes([
                    .done: "no faults, no warnings",
                    .refused: "faults found",
                    .due: "warnings, but no faults",
                ])
    )

    @OptionGroup var folder: FolderOptions
    @OptionGroup var apps: AppOptions

    @Option(help: ArgumentHelp("Address of serve for devices.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("Port of serve for devices.", valueName: "port"))
    var port: Int?

    @Option(help: ArgumentHelp("Address of serve for operators.", valueName: "address"))
    var operatorsHost = "127.0.0.1"

    @Option(help: ArgumentHelp("Port of serve for operators.", valueName: "port"))
    var operatorsPort: Int?

    @Option(
        help: ArgumentHelp("Whether serve accepts operators of other machines without TLS.", valueName: "on|off")
    )
    var operatorsInsecureHttp = OnOff.off

    @OptionGroup(title: "TLS") var tls: TLSOptions
    @OptionGroup var passphrase: KeyOptions

    @Option(
        help: ArgumentHelp("Report a role this long before it expires: 30d, 12h (default: 7d).", valueName: "time")
    )
    var readyWithin: DurationArgument?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        for (name, port) in [("port", port), ("operators-port", operatorsPort)] {
            guard (0...65_535).contains(port ?? 0) else {
                throw ValidationError("--\(name) must be from 0 to 65535")
            }
        }
        guard let port, let operatorsPort else { return }
        try OperatorOptions.check((operatorsHost, operatorsPort), beside: (host, port))
    }

    func run() async throws {
        try await reporting(json: json) {
            let now = ProcessEnvironment.now()
            var diagnosis = Diagnosis()
            checkFolder(&diagnosis)
            for app in (try? apps.apps(in: folder.folder, damaged: true)) ?? [] { await look(at: app, now, &diagnosis) }
            diagnosis.add(
                .clock(
                    now,
                    signedAt: newestSignature(),
                    build: folder.folder.build,
                    written: await newestEntry()
                )
            )
            diagnosis.add(tlsLine(now))
            let hasTLS = tls.tlsKey != nil
            if let fault = OperatorOptions.exposure(at: operatorsHost, hasTLS: hasTLS, operatorsInsecureHttp) {
                diagnosis.add(Diagnosis.Line("operators", .fault, fault.message, hint: fault.hint))
            }
            // Port 0 is any free one, so there is nothing to check.
            for case (let host, let port?) in [(host, port), (operatorsHost, operatorsPort)] where port != 0 {
                diagnosis.add(.port(port, await Self.owner(of: port, at: host, isTLS: tls.tlsKey != nil)))
            }
            if json {
                Console.standardOutput.line(diagnosis.json.pretty())
            } else {
                diagnosis.write(to: .standardOutput)
            }
            if diagnosis.code != .done { throw diagnosis.code.asError }
        }
    }

    private func checkFolder(_ diagnosis: inout Diagnosis) {
        let (disk, root) = (DiskFiles(), folder.folder.root)
        diagnosis.add(
            .folder(
                try? disk.status(of: root),
                canWrite: disk.canWrite(in: root),
                isReadOnly: disk.isReadOnly(root)
            )
        )
        if let files = ForeignFiles(in: root) {
            diagnosis.add(Diagnosis.Line("owners", .fault, files.finding, hint: files.hint(for: root)))
        }
        if let space = try? DiskSpace(at: root) {
            diagnosis.add(.disk(space, freeText: "\(ByteText(space.freeBytes))"))
        }
        // Without the file the lock was never taken, and `doctor` creates no files.
        guard (try? disk.status(of: folder.folder.lock)) ?? nil != nil else { return }
        do throws(StoreLockError) {
            let lock = try StoreLock(folder.folder.lock)
            lock.release()
            diagnosis.add(.lock(nil))
        } catch { diagnosis.add(.lock(error)) }
    }

    private func look(at app: AppID, _ now: UTCTime, _ diagnosis: inout Diagnosis) async {
        let within = readyWithin?.duration ?? Readiness.within
        let check = ReadinessCheck(folder.folder, files: DiskFiles(), within: within, now: { now })
        if let readiness = try? await check.answer(), let found = readiness.apps.first(where: { $0.app == app }) {
            for line in Diagnosis.Line.roles(of: found, at: now) { diagnosis.add(line) }
        }
        guard let repository = try? AppRepository(app, in: folder.folder) else { return }
        let file = repository.onlineKeyFile
        diagnosis.add(.keyFile(of: app, try? DiskFiles().status(of: file)))
        if let bytes = try? DiskFiles().read(file, limit: Limits.keyFile) {
            let isEncrypted = OnlineKey.isEncrypted(bytes)
            let fault = isEncrypted && !passphrase.isNamed ? nil : keyFault(repository)
            diagnosis.add(.key(of: app, isEncrypted: isEncrypted, isNamed: passphrase.isNamed, fault: fault))
        }
        if let packs = try? Self.packsWastingSpace(in: repository), packs.count > 0 {
            diagnosis.add(.packs(of: app, count: packs.count, text: "\(ByteText(packs.bytes))"))
        }
        if let size = (try? repository.labelsSize()) ?? nil { diagnosis.add(.labels(of: app, size: size)) }
    }

    /// The reason why the online key cannot sign, or nil.
    private func keyFault(_ repository: AppRepository) -> String? {
        do {
            let path = repository.onlineKeyFile
            let file = try DiskFiles().read(path, limit: Limits.keyFile)
            guard let key = try passphrase.opener()(file, path) else { return nil }
            try repository.check(key)
            return nil
        } catch { return Failure(of: error)?.message ?? "\(error)" }
    }

    /// The packs that save too little, for all channels, which may list the same versions.
    static func packsWastingSpace(in repository: AppRepository) throws -> (count: Int, bytes: Int) {
        var wasting: (count: Int, bytes: Int) = (0, 0)
        for channel in Set(try repository.packEnds().listed.values) {
            let found = try ListUpdates(of: channel, in: repository).packsWastingSpace()
            wasting = (wasting.count + found.count, wasting.bytes + found.bytes)
        }
        return wasting
    }

    private func newestSignature() -> UTCTime? {
        let apps = (try? apps.apps(in: folder.folder)) ?? []
        return apps.compactMap { app in
            (try? AppRepository(app, in: folder.folder)).flatMap { repository in (try? repository.signedAt()) ?? nil }
        }.max()
    }

    /// Nil without records, because `doctor` creates no files.
    private func newestEntry() async -> UTCTime? {
        guard (try? DiskFiles().status(of: folder.folder.recordsFile)) ?? nil != nil else { return nil }
        return (try? await folder.records().lastAuditEntry())??.earliest
    }

    private func tlsLine(_ now: UTCTime) -> Diagnosis.Line {
        do {
            return .tls(try tls.identity()?.validity, fault: nil, at: now)
        } catch { return .tls(nil, fault: Failure(of: error)?.message ?? "\(error)", at: now) }
    }

    /// Tries to listen on the port.
    ///
    /// If it is in use, checks whether the listener is a patchsrv.
    private static func owner(of port: Int, at host: String, isTLS: Bool) async -> Diagnosis.Line.Port {
        let (listening, continuation) = AsyncStream.makeStream(of: Void.self)
        let server = FileServer(
            configuration: FileServerConfiguration(host: host, port: port),
            source: PublishedTree("/nonexistent"),
            onListening: { _ in continuation.finish() }
        )
        let running = Task { () -> Diagnosis.Line.Port? in
            defer { continuation.finish() }
            do throws(FileServerError) {
                try await server.run()
                return nil
            } catch {
                switch error {
                case .portInUse: return await HealthCheck.owner(of: port, at: host, isTLS: isTLS)
                case .cannotBind(_, _, let reason), .listenerFailed(let reason): return .unusable(reason)
                }
            }
        }
        for await _ in listening {}
        running.cancel()
        return await running.value ?? .free
    }
}
