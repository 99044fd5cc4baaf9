import Linux
import PatchDelta
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The rules of each line: facts in, verdict out.
extension Diagnosis.Line {
    /// A publish of a large bundle may need this much.
    private static let littleSpace = 1_000_000_000
    private static let noSpace = 100_000_000
    private static let fewFiles = 10_000
    /// Earlier times are wrong: no server ran before this code was written.
    private static let earliest = UTCTime(seconds: 1_760_000_000)
    /// How far two clocks may differ.
    private static let clockSlack = Duration.minutes(1)
    /// How long before its expiry a certificate should be renewed.
    private static let renewal = Duration.days(14)

    /// The free space for future releases.
    package static func disk(_ space: DiskSpace, freeText: String) -> Diagnosis.Line {
        let hint = "patchsrv gc removes unneeded files"
        if let files = space.freeFiles, files < fewFiles {
            return Diagnosis.Line(
                "disk",
                files < 100 ? .fault : .warning,
                "room for \(Words.count(files, "more file"))",
                hint: hint
            )
        }
        let free = space.freeBytes
        let verdict: Diagnosis.Verdict =
            free < noSpace ? .fault : free < littleSpace || free < (space.totalBytes ?? 0) / 50 ? .warning : .ok
        return Diagnosis.Line("disk", verdict, "\(freeText) free", hint: verdict == .ok ? nil : hint)
    }

    /// - Parameters:
    ///   - signedAt: when the newest timestamp was signed; nil without an app.
    ///   - build: when this program was built.
    ///   - written: the earliest time of the newest entry of the audit log; nil without one.
    package static func clock(
        _ now: UTCTime,
        signedAt: UTCTime?,
        build: UTCTime = UTCTime(seconds: 0),
        written: UTCTime? = nil
    ) -> Diagnosis.Line {
        let hint = "set it, and keep it right with a time service: devices use the times that are signed here"
        guard now > earliest else { return Diagnosis.Line("clock", .fault, "it shows \(now)", hint: hint) }
        if let behind = ClockBehind(clock: now, signedAt: signedAt, build: build) {
            return Diagnosis.Line("clock", .fault, "\(behind): nothing is signed", hint: behind.hint)
        }
        if let written, written > now.adding(clockSlack) {
            return Diagnosis.Line(
                "clock",
                .fault,
                "it shows \(now), but the audit log has an entry of \(written): tokens expire by that time",
                hint: "set it; if it is right now and was ahead before, run patchsrv audit accept-clock"
            )
        }
        return Diagnosis.Line("clock", .ok, "\(now)")
    }

    /// The server's folder.
    ///
    /// Only its own user needs to read it, except for the tree.
    package static func folder(
        _ status: FileStatus?,
        canWrite: Bool,
        isReadOnly: Bool = false
    ) -> Diagnosis.Line {
        guard let status, status.kind == .directory else {
            return Diagnosis.Line("folder", .fault, "it does not exist", hint: "start an app with patchsrv init")
        }
        guard status.permissions.rawValue & 0o022 == 0 else {
            return Diagnosis.Line("folder", .fault, "other users may change it", hint: "chmod go-w it")
        }
        guard !isReadOnly else {
            return Diagnosis.Line(
                "folder",
                .warning,
                "its file system is mounted read-only",
                hint: "publish, refresh and gc need write access"
            )
        }
        guard canWrite else {
            return Diagnosis.Line(
                "folder",
                .warning,
                "this user may not write to it",
                hint: "publish, refresh and gc need the user that owns it"
            )
        }
        return Diagnosis.Line("folder", .ok, "it can be written to")
    }

    /// - Parameter error: why it could not be acquired.
    package static func lock(_ error: StoreLockError?) -> Diagnosis.Line {
        switch error {
        case nil: Diagnosis.Line("lock", .ok, "it is free")
        case .held(_, let pid):
            Diagnosis.Line(
                "lock",
                .warning,
                "held by \(pid.map { "process \($0)" } ?? "another process")",
                hint: "a publish holds it for a moment; try again"
            )
        case .file(let error): Diagnosis.Line("lock", .fault, "\(error)", hint: "its user must be able to write it")
        }
    }

    package static func keyFile(of app: AppID, _ status: FileStatus?) -> Diagnosis.Line {
        let subject = "\(app) key file"
        guard let status, status.kind == .file else {
            return Diagnosis.Line(
                subject,
                .fault,
                "it is missing, so nothing can be signed",
                hint: "put the online key back from a copy as apps/\(app)/online.key"
            )
        }
        guard status.permissions.rawValue & 0o077 == 0 else {
            return Diagnosis.Line(
                subject,
                .fault,
                "other users can read it",
                hint: "chmod 600 it, and choose a new one"
            )
        }
        return Diagnosis.Line(subject, .ok, "only its owner can read it")
    }

    /// - Parameter isNamed: whether a passphrase was given.
    package static func key(of app: AppID, isEncrypted: Bool, isNamed: Bool, fault: String?) -> Diagnosis.Line {
        let subject = "\(app) online key"
        if let fault { return Diagnosis.Line(subject, .fault, fault) }
        guard isEncrypted else {
            return Diagnosis.Line(
                subject,
                .warning,
                "it is not encrypted: anyone who can read the disk has it",
                hint: "openssl pkcs8 -topk8 -v2 aes-256-cbc encrypts it"
            )
        }
        guard isNamed else {
            return Diagnosis.Line(subject, .ok, "encrypted; name its passphrase to try it")
        }
        return Diagnosis.Line(subject, .ok, "the passphrase opens it, and the root of trust lists it")
    }

    /// The findings of ``Readiness`` on an app, one line for each role due for signing.
    package static func roles(of app: Readiness.App, at now: UTCTime) -> [Diagnosis.Line] {
        if let fault = app.fault {
            return [Diagnosis.Line("\(app.app) tree", .fault, fault, hint: "patchsrv check names each file")]
        }
        guard !app.due.isEmpty else { return [Diagnosis.Line("\(app.app) roles", .ok, "all of them are valid")] }
        return app.due.map { role in
            Diagnosis.Line(
                "\(app.app) \(role.role)",
                role.expires <= now ? .fault : .warning,
                role.expires <= now ? "expired at \(role.expires)" : "ends at \(role.expires)",
                hint: role.keeper == .holders
                    ? "its key holders sign it again" : "patchsrv refresh, or serve, signs it again"
            )
        }
    }

    /// - Parameter size: the size of `labels.json`, in bytes.
    package static func labels(of app: AppID, size: Int) -> Diagnosis.Line {
        let share = size * 100 / Limits.stateFile
        return Diagnosis.Line(
            "\(app) labels",
            share >= 80 ? .warning : .ok,
            "\(share) % of the limit of their record",
            hint: share >= 80 ? "publish fewer new versions of patches" : nil
        )
    }

    /// Packs that save too few bytes for the disk space they use.
    package static func packs(of app: AppID, count: Int, text: String) -> Diagnosis.Line {
        let all = Words.count(count, "pack")
        return Diagnosis.Line(
            "\(app) packs",
            .warning,
            "\(all) of \(text) save less than \(UpdateCost.leastSaving) % of an update",
            hint:
                "a publish no longer keeps such packs; these are removed with the versions that they start from (patchsrv gc --keep)"
        )
    }

    /// - Parameters:
    ///   - validity: the validity of the certificate, in seconds since 1970.
    ///   - fault: why certificate and key cannot be used.
    package static func tls(_ validity: ClosedRange<Int>?, fault: String?, at now: UTCTime) -> Diagnosis.Line {
        if let fault { return Diagnosis.Line("tls", .fault, fault) }
        guard let validity else { return Diagnosis.Line("tls", .ok, "no certificate was named") }
        let end = UTCTime(seconds: validity.upperBound)
        guard now.seconds >= validity.lowerBound else {
            let start = UTCTime(seconds: validity.lowerBound)
            return Diagnosis.Line("tls", .fault, "the certificate is valid only from \(start)")
        }
        guard now < end else {
            return Diagnosis.Line("tls", .fault, "the certificate expired at \(end)", hint: "renew it")
        }
        let isSoon = end <= now.adding(renewal)
        return Diagnosis.Line(
            "tls",
            isSoon ? .warning : .ok,
            "it is valid until \(end)",
            hint: isSoon ? "renew it" : nil
        )
    }

    /// The state of the port.
    package enum Port: Equatable, Sendable {
        case free
        /// A server that answers like ours.
        case ours
        /// The same, but speaking HTTPS where HTTP was expected, or HTTP where HTTPS was.
        case oursOverOtherScheme(isTLS: Bool)
        case taken
        case unusable(String)
    }

    package static func port(_ port: Int, _ found: Port) -> Diagnosis.Line {
        switch found {
        case .free: Diagnosis.Line("port", .ok, "\(port) is free")
        case .ours: Diagnosis.Line("port", .ok, "\(port) is served by patchsrv")
        case .oursOverOtherScheme(isTLS: true):
            Diagnosis.Line(
                "port",
                .ok,
                "\(port) is served by patchsrv, over HTTPS",
                hint: "give --tls-certificate and --tls-key, as for serve, to check the certificate too"
            )
        case .oursOverOtherScheme(isTLS: false):
            Diagnosis.Line(
                "port",
                .warning,
                "\(port) is served by patchsrv without TLS",
                hint: "start it with the --tls-certificate and --tls-key that are given here"
            )
        case .taken:
            Diagnosis.Line("port", .fault, "another program listens on \(port)", hint: "stop it, or name another port")
        case .unusable(let reason): Diagnosis.Line("port", .fault, "\(port): \(reason)")
        }
    }
}
