import CommandKit
import ArgumentParser
import HTTPFiles
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseClient
import ReleaseFolder
import ReleaseService
import ServerRecords
import SystemPackage

/// Runs a command's body and reports an error on standard error with an exit code.
///
/// - Parameter json: Whether the error is also printed as a line on standard output, for scripts that read the result there.
func reporting(json: Bool = false, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch {
        guard let failure = Failure(of: error) else { throw error }
        try await runCommand(json: json) { () throws(Failure) in throw failure }
    }
}

extension Failure {
    /// Nil for an error of the argument parser.
    init?(of error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as OpenFailure: self = error.failure
        case let error as ServerError: self.init(error)
        case let error as ExportError: self.init(error)
        case let error as BackupError: self.init(error)
        case let error as FileError: self.init("\(error)", hint: ServerError.file(error).hint, code: .disk)
        case let error as ReleaseError: self.init(ServerError.release(error))
        case let error as RecordError: self.init(error)
        case let error as OperationError: self.init(error)
        case let error as FormatError: self.init(error.description, code: .malformed)
        case PassphraseError.noTerminal:
            self.init(
                "there is no terminal to ask for the passphrase of the online key",
                hint: "name it with --passphrase-file or in \(KeyOptions.variable), in cron too",
                code: .usage
            )
        case let error as PassphraseError: self.init(error)
        case let error as FileServerError: self.init(error)
        case let error as ServiceError: self.init(error)
        default: return nil
        }
    }

    private init(_ error: ServerError) {
        self.init(error.description, hint: error.hint, code: error.code)
    }

    private init(_ error: OperationError) {
        switch error {
        case .server(let error): self.init(error)
        case .records(let error): self.init(error)
        case .stopping: self.init("the program is stopping", code: .failed)
        case .keyIsLocked:
            self.init(
                "the online key is encrypted",
                hint: "name its passphrase with --passphrase-file or in \(KeyOptions.variable)",
                code: .refused
            )
        case .busy: self.init("too many changes wait already", hint: "try again", code: .busy)
        case .keyUnusable(let why), .keyRefused(let why): self.init(why, code: .refused)
        case .tooManyAnswers(let limit):
            self.init("they have answers for \(limit) patches already", hint: "remove one first", code: .conflict)
        case .answersFull(let channel, let limit):
            self.init(
                "\(channel) has \(limit) answers already",
                hint: "remove some, or sign a condition into the release instead",
                code: .conflict
            )
        case .proposal(.done):
            self.init("\(ProposalFault.done)", hint: "a published release stays in the history", code: .conflict)
        case .proposal(let fault): self.init(fault.description, hint: fault.hint, code: .refused)
        case .noRelease(let channel, let version):
            self.init(
                "the history of \(channel) has no release \(version)",
                hint: "patchsrv history shows the releases",
                code: .refused
            )
        }
    }

    private init(_ error: ExportError) {
        switch error {
        case .server(let error): self.init(error)
        case .locked(.held):
            self.init(
                error.description,
                hint: "another export writes there; wait until it has finished",
                code: .busy
            )
        case .locked(.file(let file)):
            self.init(error.description, hint: ServerError.file(file).hint, code: .disk)
        case .otherRoot:
            self.init(error.description, hint: "name another folder, or remove that one first", code: .conflict)
        case .older:
            self.init(
                error.description,
                hint: "it was exported with --valid: use --valid again, or wait until the server has signed again",
                code: .conflict
            )
        }
    }

    /// Removes the name of a type at the beginning, as in NIO's errors.
    private static func plain(_ reason: String) -> String {
        guard let colon = reason.firstRange(of: ": "), reason[..<colon.lowerBound].contains("Error.") else {
            return reason
        }
        return String(reason[colon.upperBound...])
    }

    /// - Parameters:
    ///   - prefix: The prefix of the options for host and port: `operators-`.
    ///   - holder: Finds the program that listens on a port.
    init(_ error: FileServerError, prefix: String = "", holder: (Int) -> PortHolder? = { _ in nil }) {
        switch error {
        case .portInUse(let host, let port):
            self.init(
                "port \(port) of \(host) is in use" + (holder(port).map { " by \($0)" } ?? ""),
                hint:
                    "stop the program that listens there, or name another with --\(prefix)port (0 uses any free one)",
                code: .busy
            )
        case .cannotBind(let host, let port, let reason):
            let isForbidden = reason == "\(Errno.permissionDenied)"
            self.init(
                "cannot listen on port \(port) of \(host): \(Self.plain(reason))",
                hint: isForbidden
                    ? "ports below 1024 need a right that this user lacks: name another with --\(prefix)port"
                    : "--\(prefix)host names an address of this machine; 0.0.0.0 is all of them",
                code: .network
            )
        case .listenerFailed(let reason):
            self.init("stopped serving: \(reason)", code: .network)
        }
    }
}

extension ServerError {
    fileprivate var code: ResultCode {
        switch self {
        case .file, .locked(.file), .release(.file), .key(_, .failed): .disk
        case .locked(.held), .movedOn: .busy
        case .malformed, .record, .key(_, .unreadable), .release(.format), .release(.missing): .malformed
        case .release(.trust(.malformed)): .malformed
        case .conflict, .dial(.outdated), .dial(.headcountLowered), .parameters(.outdated), .appExists, .trust(.older),
            .trust(.twoReleases):
            .conflict
        case .unknownApp, .noChannel, .setup, .key, .notOnlineKey, .sharedOnlineKey, .testingKey, .ended, .clockBehind,
            .tree,
            .treeFileMissing,
            .labelsFull, .release(.trust), .republished, .dial, .parameters, .trust, .exhausted:
            .refused
        }
    }

    fileprivate var hint: String? {
        switch self {
        case .file(.noSpace), .locked(.file(.noSpace)): Failure.fullDiskHint
        case .file, .malformed, .setup, .release(.file), .release(.format), .locked(.file): nil
        case .locked(.held): "wait until it has finished, then try again"
        case .movedOn: "try again"
        case .unknownApp(let app): "give it the root of trust of \(app) first: patchsrv init"
        case .noChannel(_, _, let known): ServerError.hint(channels: known)
        case .appExists: "publish to it with patchsrv publish; install a newer root of trust with patchsrv trust"
        case .key(_, .needsPassphrase), .key(_, .wrongPassphrase):
            "name its passphrase with --passphrase-file or in \(KeyOptions.variable)"
        case .key: "the online key is the PKCS#8 file that patchsign init made as online.key"
        case .notOnlineKey(_, belongsTo: .some): "keep release keys off the server; it needs only online.key"
        case .notOnlineKey: "the key must be the one that root.json lists for snapshot and timestamp"
        case .sharedOnlineKey:
            "make one for this app only: patchsign init without --public online=…, or patchsign rotate online"
        case .testingKey: "make keys of your own with patchsign init (tests set \(TestingKeys.permission)=1)"
        case .ended(let role, _, _):
            "check the clock; else sign \(role) again with `patchsign root draft`, then run patchsrv trust"
        case .clockBehind(let behind): behind.hint
        case .tree(_, .threshold):
            "if patchsrv trust was stopped, run it again; else restore the file from a copy (devices keep their versions)"
        case .tree, .treeFileMissing:
            "patchsrv check names each file; check --repair restores those that it can verify. Restore the others from a copy; "
                + "devices keep their versions meanwhile"
        case .record: "restore the file from a copy"
        case .labelsFull:
            "nothing was written; it lists every version ever published: publish fewer new ones, or after a theft "
                + "return to the state before it with patchsrv trust"
        case .release(.missing): "name a complete signed release"
        case .republished: "give the new content a new version"
        case .release(.trust(.threshold)):
            "nothing was published; `patchsign release sign` adds a key holder's signature"
        case .release(.trust(.expired("root", _, _))), .release(.trust(.expired("targets", _, _))):
            "nothing was published; sign it again with `patchsign root draft`, then run patchsrv trust"
        case .release(.trust(.expired)):
            "nothing was published; `patchsign release renew` makes it again with a new expiry"
        case .release(.trust): "nothing was published"
        case .conflict(.outdated), .conflict(.otherBase):
            "nothing was published; make it again from the current one: `patchsign release FOLDER --keys DIR --output NEW "
                + "--server URL`"
        case .conflict(.versionUsed): "nothing was published"
        case .exhausted:
            "rotate the online key: a new root with other keys for snapshot and timestamp, then patchsrv trust"
        case .dial(let refusal): refusal.hint
        case .parameters(let refusal): refusal.hint
        case .trust(let refusal): refusal.hint
        case .conflict(.otherDraft(let channel, let version, _, _)):
            "publish the draft with its missing signatures, or remove it: patchsrv draft remove \(version) --channel \(channel)"
        }
    }
}

extension DialRefusal {
    fileprivate var hint: String? {
        switch self {
        case .unpublished, .notListed: "patchsrv list shows the published versions; nothing was changed"
        case .notNew:
            "name a patch whose version is new, or set a published version's share with patchsrv rollout; nothing was published"
        case .aboveCeiling:
            "a release whose description has a higher rollout raises the ceiling: patchsign release, then patchsrv publish"
        case .headcountLowered:
            "devices that have it keep it, so a head-count can only be raised; --pause withholds the version from all others"
        case .outdated: "read it again with patchsrv dial; a refresh and a publish raise its version too"
        case .tooLarge: "give shorter reasons, or publish a release that lists fewer versions"
        }
    }
}

extension ParametersRefusal {
    fileprivate var hint: String? {
        switch self {
        case .unpublished: "publish a release to it first; patchsrv list shows the published versions"
        case .outdated: "read them again with patchsrv parameters show; nothing was changed"
        case .tooMany, .tooLarge: "put long values into a patch; nothing was changed"
        }
    }
}

extension TrustRefusal {
    fileprivate var hint: String? {
        switch self {
        case .missingRoot: "copy every N.root.json that patchsign root publish wrote into the folder"
        case .older: "name the folder that the newest patchsign root publish wrote"
        case .forked: "two sets of key holders signed one version: agree on one, and sign a version above both"
        case .untrusted: "each root is signed by the holders of the one before it and by its own"
        case .otherApp: "leave out --app, or name the folder of that app"
        case .otherOnlineKey: "give the new one with --online-key"
        case .channelUntrusted(let channel, _, _):
            "sign the release of \(channel) again with the current keys, patchsign release renew RELEASE "
                + "--base-quorum-lost, and give it with --release"
        case .channelVanished: "retire it with `patchsign delegate CHANNEL --retire`, or keep the channel"
        case .channelRetired: "give the channel another name"
        case .channelRollback(let channel, let version, _):
            "an old state may have been restored: give the newest release of \(channel) with --release, or keep "
                + "\(version == 0 ? "it unpublished" : "\(version)") with --carry-over \(channel)"
        case .twoReleases: "give one"
        case .versionUsed: "make it again with an unused version"
        }
    }
}
