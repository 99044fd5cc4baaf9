import ArgumentParser
import CommandSupport
import Glibc
import PatchFormat
import PatchServer
import PatchStore
import ServiceLifecycle
import SystemPackage
import Terminal

/// Whether a running server signs snapshot, timestamp and dial again by itself.
struct RefreshOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How old a timestamp may become before it is signed again: 6h, 30m; off leaves that to patchsrv refresh.",
            valueName: "time"
        )
    )
    var refreshEvery: RefreshInterval = .usual

    @OptionGroup var passphrase: KeyOptions

    /// The timer to run beside a server; nil when it is off.
    ///
    /// An encrypted key whose passphrase nobody named is asked for now where somebody sits at the terminal; what was typed
    /// is kept in memory. A passphrase in a file or in the environment is read at each signing. One that opens nothing
    /// ends the program here, not days later.
    ///
    /// - Parameter counters: told of every signing.
    func timer(_ folder: ServerFolder, counting counters: RefreshCounters?, log: ServerLog) throws -> (any Service)? {
        guard case .every(let every) = refreshEvery else { return nil }
        let encrypted = try encryptedKeys(in: folder)
        if passphrase.isNamed { for path in encrypted { _ = try passphrase.key(at: path) } }
        return RefreshTimer(
            folder,
            files: DiskFiles(),
            allowsTestingKeys: Surroundings.allowsTestingKeys,
            schedule: RefreshSchedule(every: every),
            clock: .continuous,
            now: Surroundings.now,
            key: try passphrase.reader(askingFor: passphrase.isNamed || !Self.canAsk ? [] : encrypted),
            observe: { counters?.add($0, $1) },
            report: { app, result in
                if let (level, line) = result.line { log.say(level, printable(line), app: app) }
            }
        )
    }

    /// Not behind a shell's `&`: a question there would take the next line that is meant for the shell.
    private static var canAsk: Bool {
        isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }

    /// Online keys that this process cannot open, for nobody named their passphrases.
    func lockedKeys(in folder: ServerFolder) throws -> [FilePath] {
        passphrase.isNamed ? [] : try encryptedKeys(in: folder)
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
    fileprivate var line: (LogLine.Level, String)? {
        switch self {
        case .signed(let done): (.info, "signed again: timestamp \(done.timestamp), until \(done.expires)")
        case .failed(let why): (.error, "cannot sign again: \(why)")
        case .withoutKey:
            (
                .warning,
                "the online key is encrypted and no passphrase is named, so nothing is signed again here: run patchsrv "
                    + "refresh every six hours (--refresh-every off says that this is meant)"
            )
        case .fresh, .locked: nil
        }
    }
}
