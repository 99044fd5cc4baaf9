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
            "is the server running, and is --server right? What is installed keeps running."
        case .fetch(.noAddress):
            "is there a network, with a name server in /etc/resolv.conf, and is --server right? What is installed keeps running."
        case .fetch(.encoded):
            "have the server or the proxy before it send files as they are, gzipped or as zstd. What is installed keeps running."
        case .fetch(.webPage):
            "a captive portal or proxy may answer in the server's place: \(Interception.hint). What is installed keeps running."
        case .fetch(.intercepted(_, .redirect)):
            "\(Interception.hint). If the server has moved: `patchsync switch --server URL`. What is installed keeps running."
        case .fetch(.intercepted): "\(Interception.hint). What is installed keeps running."
        case .fetch(.answer):
            "whoever answers there, or on the way there, speaks no HTTP; a --mirror is asked too. What is installed keeps "
                + "running."
        case .fetch(.redirected):
            "name the server's real URL: only redirects within one server are followed, and at most three."
        case .fetch(.syncDeadline): "run it again: it goes on where it stopped. --deadline gives it longer."
        case .fetch(.cancelled): "run it again: it goes on where it stopped."
        case .fetch(.tls(let fault)): fault.hint
        case .fetch(.notFound("metadata/timestamp.json")):
            "the server has nothing for this app: does --server name where devices ask (port 8080 unless told otherwise; operators' "
                + "port has no tree), and did `patchsrv init` run?"
        case .fetch(.notFound):
            "the published tree is incomplete; `patchsrv publish` again. What is installed keeps running."
        case .trust(.clockAheadOrStale("timestamp", _, _)), .trust(.clockAheadOrStale("snapshot", _, _)):
            "the server must run `patchsrv refresh`; or this device's clock is ahead. What is installed keeps running."
        case .trust(.clockAheadOrStale):
            "look at this device's clock; else the role must be signed again. What is installed keeps running."
        case .trust(.clockBehind):
            "set this device's clock; the role must be signed again too. What is installed keeps running."
        case .trust(.expired): "the role must be signed again. What is installed keeps running."
        case .trust(.rolledBack):
            "a mirror or server is behind, or someone replays old metadata. What is installed keeps running."
        case .trust(.notInSnapshot(let role)):
            "publish a release of channel \(role) first, or follow another with `patchsync switch --channel`. What is "
                + "installed keeps running."
        case .trust(.notDelegated(let role)):
            "this app has no channel \(role): follow another with `patchsync switch --channel`. What is installed keeps "
                + "running."
        case .trust(.noChannel(_, known: [])):
            "its release engineer makes one with `patchsign delegate` and publishes it. What is installed keeps running."
        case .trust(.noChannel(let channel, let known)):
            "follow one of them with `patchsync switch --channel \(channel.nearest(among: known) ?? "NAME")`. What is "
                + "installed keeps running."
        case .trust(.retired):
            "follow another channel with `patchsync switch --channel NAME`. What is installed keeps running."
        case .trust(.threshold):
            "somebody changed it after it was signed, or it was signed by other keys than this app trusts."
        case .trust(.testingKey):
            "the keys of Keys/Testing are for tests only; make your own with `patchsign init`. What is installed keeps "
                + "running."
        case .trust, .object, .pack, .fetch: "nothing was installed; what is installed keeps running."
        case .storeIncomplete: Failure.storeRepair
        case .noStore: "make one: patchsync init --store DIR --root root.json --server URL"
        case .storeExists: "choose another folder; a store is made once."
        case .lock(.held): "another patchsync works on this store; wait for it, or stop it."
        case .rootNamesNoApp: "use the root.json that `patchsign init` wrote."
        case .nothingPending: "run `patchsync sync` first."
        case .nothingToRollBackTo: "only a version that was confirmed before can be gone back to."
        case .waitsForLaunch: "its rules say runAtNextLaunch: stop `patchsync serve` and start it again."
        case .heldBack: "`patchsync switch` starts it all the same."
        case .blacklisted, .incompatible: "what is installed keeps running."
        case .nothingInstalled: "run `patchsync sync`, then `patchsync serve`."
        case .embedded: "make it again with `patchsign embed`, and ship it as it is. What is installed keeps running."
        case .otherAppBuild: "leave --app-build out, or make what the app ships with `patchsign embed --app-build`."
        case .waitsForTrial: "confirm it first; the version that runs tells that it works."
        case .notKept: "the daemon tries again by itself; its output and `patchsync log` say what was wrong."
        case .trialRunning:
            "confirm it with `patchsync confirm --launch-file FILE`, or wait for a newer release in this channel."
        case .noRoom:
            "free some space on this disk; the next sync takes it. `patchsync set --reserve` changes the reserve."
        case .file(.noSpace): "free some space and run the same command again; nothing is lost."
        case .file(.cannotLink):
            "a store needs a file system with hard links and permissions, such as ext4, XFS or Btrfs; FAT and exFAT have neither."
        case .file(.permission):
            "the store and its files must belong to the user that runs patchsync; `patchsync doctor`, as root, names those that "
                + "do not, and how to give them back."
        case .file(.readOnly): "the store must be writable by the user that runs patchsync."
        case .unreadable: "nothing was changed; what is installed keeps running."
        case .file, .lock, .format: nil
        }
    }
}

extension TLSFault {
    fileprivate var hint: String {
        switch self {
        case .wrongHostName:
            "use the name that the certificate is for, or give the server one for its name; in a network that wants a login, log in."
        case .unknownIssuer:
            "name its authority with `set --ca`, or install it in the system; else a captive portal or proxy answers in its place."
        case .expired: "the server needs a new certificate; or this device's clock is ahead."
        case .notYetValid: "look at this device's clock."
        case .notTLS: "use http://, or the port where the server speaks TLS."
        case .pinMismatch: "pin the server's new key with `set --pin`; or somebody is in between."
        case .notEncrypted: "--pin and --ca want https:// for the server and every mirror."
        case .noAuthority: "--ca wants certificates in PEM."
        case .handshake: "the server must speak TLS 1.2 or 1.3."
        }
    }
}

/// Runs device work, and converts its errors into the command's failures.
package func reporting<Result>(_ body: () async throws(SyncError) -> Result) async throws(Failure) -> Result {
    do throws(SyncError) { return try await body() } catch { throw Failure(error) }
}
