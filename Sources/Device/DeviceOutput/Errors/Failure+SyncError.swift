import PatchFetch
package import PatchFormat
import PatchStore
package import PatchSync
import ReleaseFolder
import PatchTrust

extension Failure {
    /// The hint for a missing or damaged file that every store needs.
    package static let storeRepair =
        "put it back from a copy, or move the store away and make a new one: patchsync init"

    /// Maps every error of a sync to its sentence, hint and exit code.
    package init(_ error: SyncError) {
        self.init(error.description, hint: error.hint, code: error.code)
    }
}

extension SyncError {
    package var code: ResultCode {
        switch self {
        case .fetch(.cancelled): .interrupted
        case .fetch(.tls(.noAuthority)): .malformed
        case .fetch(let error): error.isNetwork ? .network : .refused
        case .trust(.malformed), .format, .rootNamesNoApp, .unreadable: .malformed
        case .trust, .object, .pack: .refused
        case .file, .noStore, .storeIncomplete, .storeExists: .disk
        case .embedded(_, .format): .malformed
        case .embedded(_, .trust), .otherAppBuild: .refused
        case .embedded(_, .file), .embedded(_, .missing): .disk
        case .lock(.held), .notKept: .busy
        case .lock(.file): .disk
        case .nothingPending, .nothingToRollBackTo, .nothingInstalled, .waitsForLaunch, .heldBack, .trialRunning,
            .waitsForTrial:
            .failed
        case .noRoom: .disk
        case .blacklisted, .incompatible: .refused
        }
    }

    fileprivate var hint: String? {
        switch self {
        case .fetch(.connection), .fetch(.timedOut), .fetch(.stalled), .fetch(.busy):
            "check that the server is running and that --server is right. The active version keeps running."
        case .fetch(.noAddress):
            "check the network, the name server in /etc/resolv.conf, and --server. The active version keeps running."
        case .fetch(.encoded):
            "let the server, and any proxy before it, send files uncompressed, as gzip or as zstd. The active version keeps running."
        case .fetch(.webPage):
            "a captive portal or proxy may answer in the server's place: \(Interception.hint). The active version keeps running."
        case .fetch(.intercepted(_, .redirect)):
            "\(Interception.hint). If the server has moved: `patchsync switch --server URL`. The active version keeps running."
        case .fetch(.intercepted): "\(Interception.hint). The active version keeps running."
        case .fetch(.answer):
            "check --server: that server, or a proxy before it, does not speak HTTP. A --mirror is used too. The active "
                + "version keeps running."
        case .fetch(.redirected):
            "name the server's real URL: only redirects within one server are followed, and at most three."
        case .fetch(.syncDeadline): "run it again: it continues where it stopped. --deadline sets a longer limit."
        case .fetch(.cancelled): "run it again: it continues where it stopped."
        case .fetch(.tls(let fault)): fault.hint
        case .fetch(.notFound("metadata/timestamp.json")):
            "check that --server names the port for devices (default: 8080; the operators' port has no tree), and that "
                + "`patchsrv init` was run."
        case .fetch(.notFound):
            "the published tree is incomplete: run `patchsrv publish` again. The active version keeps running."
        case .trust(.clockAheadOrStale("timestamp", _, _)), .trust(.clockAheadOrStale("snapshot", _, _)):
            "run `patchsrv refresh` on the server, or correct this device's clock. The active version keeps running."
        case .trust(.clockAheadOrStale):
            "check this device's clock; if it is right, the role must be signed again. The active version keeps running."
        case .trust(.clockBehind):
            "correct this device's clock; the role must be signed again, too. The active version keeps running."
        case .trust(.expired): "the role must be signed again. The active version keeps running."
        case .trust(.rolledBack):
            "a mirror or server is behind, or an attacker replays old metadata. The active version keeps running."
        case .trust(.notInSnapshot(let role)):
            "publish a release of channel \(role) first, or follow another with `patchsync switch --channel`. The active "
                + "version keeps running."
        case .trust(.notDelegated(let role)):
            "this app has no channel \(role): follow another with `patchsync switch --channel`. The active version keeps "
                + "running."
        case .trust(.noChannel(_, known: [])):
            "its release engineer makes one with `patchsign delegate` and publishes it. The active version keeps running."
        case .trust(.noChannel(let channel, let known)):
            "follow one of them with `patchsync switch --channel \(channel.nearest(among: known) ?? "NAME")`. The active "
                + "version keeps running."
        case .trust(.retired):
            "follow another channel with `patchsync switch --channel NAME`. The active version keeps running."
        case .trust(.threshold):
            "it was changed after it was signed, or it was signed with keys that this app does not trust."
        case .trust(.testingKey):
            "the keys of Keys/Testing are for tests only; make your own with `patchsign init`. The active version keeps "
                + "running."
        case .trust, .object, .pack, .fetch: "nothing was installed; the active version keeps running."
        case .storeIncomplete: Failure.storeRepair
        case .noStore: "make one: patchsync init --store DIR --root root.json --server URL"
        case .storeExists: "choose another folder; a store is made once."
        case .lock(.held): "another patchsync works on this store; wait for it, or stop it."
        case .rootNamesNoApp: "use the root.json that `patchsign init` wrote."
        case .nothingPending: "run `patchsync sync` first."
        case .nothingToRollBackTo: "a rollback needs an earlier version that was confirmed."
        case .waitsForLaunch: "its rules set runAtNextLaunch: stop `patchsync serve` and start it again."
        case .heldBack: "`patchsync switch` starts it anyway."
        case .blacklisted, .incompatible: "the active version keeps running."
        case .nothingInstalled: "run `patchsync sync`, then `patchsync serve`."
        case .embedded: "make it again with `patchsign embed`, and ship it unchanged. The active version keeps running."
        case .otherAppBuild: "omit --app-build, or make the embedded files with `patchsign embed --app-build`."
        case .waitsForTrial: "wait until the app confirms it, or run `patchsync confirm --launch-file FILE`."
        case .notKept: "the daemon tries again automatically; its output and `patchsync log` show the cause."
        case .trialRunning:
            "confirm it with `patchsync confirm --launch-file FILE`, or wait for a newer release in this channel."
        case .noRoom:
            "free some space on this disk; the next sync takes it. `patchsync set --reserve` changes the reserve."
        case .file(.noSpace): "free some space and run the same command again; nothing is lost."
        case .file(.cannotLink):
            "a store needs a file system with hard links and permissions, such as ext4, XFS or Btrfs; FAT and exFAT have neither."
        case .file(.permission):
            "the store and its files must belong to the user that runs patchsync; `patchsync doctor`, as root, lists those that "
                + "do not, and the command that corrects it."
        case .file(.readOnly): "the store must be writable by the user that runs patchsync."
        case .unreadable: "nothing was changed; the active version keeps running."
        case .file, .lock, .format: nil
        }
    }
}

extension TLSFault {
    fileprivate var hint: String {
        switch self {
        case .wrongHostName:
            "use the name in the certificate, or give the server a certificate for its name; if the network requires a login, log in."
        case .unknownIssuer:
            "if its authority is your own, name it with `set --ca` or install it in the system; if not, a captive portal or proxy answers in its place."
        case .expired: "the server needs a new certificate; or this device's clock is ahead."
        case .notYetValid: "check this device's clock."
        case .notTLS: "use http://, or the port where the server speaks TLS."
        case .pinMismatch:
            "if the server has a new key, pin it with `set --pin`; if not, an attacker intercepts the connection."
        case .notEncrypted: "--pin and --ca require https:// for the server and every mirror."
        case .noAuthority: "--ca requires certificates in PEM."
        case .handshake: "the server must speak TLS 1.2 or 1.3."
        }
    }
}

/// Runs device work, and converts its errors into the command's failures.
package func reporting<Result>(_ body: () async throws(SyncError) -> Result) async throws(Failure) -> Result {
    do throws(SyncError) { return try await body() } catch { throw Failure(error) }
}
