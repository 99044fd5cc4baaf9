import ArgumentParser
import CommandKit
import Glibc
import PatchFormat
import PatchServer
import PatchStore
import ServiceLifecycle
import SystemPackage

/// The options for signing snapshot, timestamp and dial while the server runs.
struct RefreshOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Age at which a timestamp is signed again: 6h, 30m; off leaves that to patchsrv refresh.",
            valueName: "time"
        )
    )
    var refreshEvery: RefreshInterval = .usual

    @OptionGroup var passphrase: KeyOptions

    /// The keys that a running server signs with, and those that it cannot open.
    struct Keys: Sendable {
        let open: KeyOpener
        /// The paths of encrypted keys without a passphrase.
        let locked: [FilePath]

        /// Whether the key can be opened, or was already reported at the start because it could not.
        @Sendable func opens(_ file: [UInt8], at path: FilePath) -> Bool {
            if locked.contains(path) { return true }
            return ((try? open(file, path)) ?? nil) != nil
        }
    }

    /// The keys for the timer and the API.
    ///
    /// If a user is at the terminal, asks now, once for both, for missing passphrases, and stores them in memory. Without an answer
    /// devices are still served. A wrong passphrase ends the program now and not days later.
    func keys(in folder: ServerFolder) throws -> Keys {
        let encrypted = try encryptedKeys(in: folder)
        if passphrase.isNamed {
            for path in encrypted { _ = try passphrase.key(at: path) }
            return Keys(open: passphrase.opener(), locked: [])
        }
        guard case .every = refreshEvery, Self.canAsk else { return Keys(open: passphrase.opener(), locked: encrypted) }
        var typed = TypedPassphrases()
        var locked: [FilePath] = []
        for path in encrypted where try !typed.ask(for: path) { locked.append(path) }
        return Keys(open: passphrase.opener(typed), locked: locked)
    }

    /// The consequences of a locked key in one sentence, or nil if there are none.
    func warning(of locked: FilePath, hasAPI: Bool) -> String? {
        var missing: [String] = []
        if case .every = refreshEvery {
            missing.append("nothing is signed again here (run patchsrv refresh every six hours)")
        }
        if hasAPI {
            missing.append("over the API nothing is published, no dial turned and no parameter changed")
        }
        guard !missing.isEmpty else { return nil }
        return "no passphrase is known for the online key \(locked): devices are served, but "
            + missing.joined(separator: ", and ") + "; give it with --passphrase-file or \(KeyOptions.variable)"
    }

    /// The timer to run beside a server, or nil if it is off.
    ///
    /// - Parameter counters: Counts every signing.
    func timer(_ folder: ServerFolder, _ keys: Keys, counting counters: RefreshCounters?, log: ServerLog) -> (
        any Service
    )? {
        guard case .every(let every) = refreshEvery else { return nil }
        let said = Set(keys.locked)
        return RefreshTimer(
            folder,
            files: DiskFiles(),
            allowsTestingKeys: ProcessEnvironment.allowsTestingKeys,
            schedule: RefreshSchedule(every: every),
            clock: .continuous,
            now: ProcessEnvironment.now,
            key: { path in
                let file: [UInt8]
                do { file = try DiskFiles().read(path, limit: Limits.keyFile) } catch { throw OpenFailure(error) }
                return try keys.open(file, path)
            },
            observe: { counters?.add($0, $1) },
            report: { app, result in
                // Already reported at the start of the server.
                if case .withoutKey = result, let app, said.contains(folder.onlineKey(of: app)) { return }
                if let (level, line) = result.line { log.say(level, printable(line), app: app) }
            },
            clockIsSet: { try await ClockStep.wait(clock: .continuous, now: ProcessEnvironment.now) }
        )
    }

    /// Whether this is a foreground process at a terminal.
    ///
    /// In the background, a question would read input meant for the shell.
    private static var canAsk: Bool {
        isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }

    private func encryptedKeys(in folder: ServerFolder) throws -> [FilePath] {
        var found: [FilePath] = []
        for app in try folder.allApps(files: DiskFiles()) {
            let path = try AppRepository(app, in: folder).onlineKeyFile
            let file = try DiskFiles().read(path, limit: Limits.keyFile)
            if OnlineKey.isEncrypted(file) { found.append(path) }
        }
        return found
    }
}

extension RefreshResult {
    var line: (LogLine.Level, String)? {
        switch self {
        case .signed(let done): (.info, "signed again: timestamp \(done.timestamp), until \(done.expires)")
        case .failed(let why): (.error, "cannot sign again: \(why)")
        case .withoutKey:
            (
                .warning,
                "the online key is encrypted and no passphrase is named, so nothing is signed again here: run patchsrv "
                    + "refresh every six hours (--refresh-every off confirms this)"
            )
        case .clockBehind(let behind):
            (
                .error,
                "\(behind): nothing is signed until the clock is right; the published tree is served (patchsrv doctor explains "
                    + "how to continue)"
            )
        case .fresh(let signedAt): (.info, "the clock is right again: the timestamp of \(signedAt) is current")
        case .locked: nil
        }
    }
}
