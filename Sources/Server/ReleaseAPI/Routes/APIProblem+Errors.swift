import HTTPAPI
import NIOHTTP1
import PatchCompression
import PatchDelta
import PatchFormat
import PatchServer
import PatchStore
import PatchTrust
import ReleaseFolder
import ReleaseService
import ServerRecords

extension APIProblem {
    static let `internal` = APIProblem(500, "internal", "the server could not do this; its log has the reason")

    /// The problem for an error of a route, or nil for an internal error.
    init?(of error: any Error) {
        switch error {
        case let problem as APIProblem: self = problem
        case let error as OperationError: self.init(error)
        case let error as UploadError: self.init(error)
        case let error as RecordError: self.init(OperationError.records(error))
        case is CancellationError: self.init(OperationError.stopping)
        default: return nil
        }
    }

    /// The problem for an error of the HTTP server itself.
    static func refused(_ message: String, _ status: HTTPResponseStatus) -> APIProblem {
        APIProblem(refused: message, status, kinds: [405: "methodNotAllowed"])
    }

    private init(diskFull consequence: String) {
        self.init(
            507,
            "insufficientStorage",
            "the server's disk is full; \(consequence)",
            hint: "try again once an operator has made room: patchsrv gc"
        )
    }

    init(_ error: OperationError) {
        switch error {
        case .server(let error): self.init(error)
        case .records(.conflict(let key)):
            self.init(
                409,
                "conflict",
                "\(key) was changed meanwhile",
                hint: "read it again and retry"
            )
        case .records(.nameTaken(let name, let id)):
            self.init(
                409,
                "conflict",
                "a valid token is called \(name) already: \(id)",
                hint: "choose another name, or revoke that one first",
                rule: "name"
            )
        case .records(.failed(_, _, isFull: true)):
            self.init(diskFull: "nothing was changed")
        case .records: self.init(503, "unavailable", "the server's records cannot be read or written", retryAfter: 30)
        case .stopping: self.init(503, "stopping", "the server is stopping", retryAfter: 1)
        case .keyIsLocked:
            self.init(
                503,
                "keyLocked",
                "the server has no passphrase that opens its online key, so it cannot publish",
                hint:
                    "restart patchsrv serve with the passphrase of the current key, for example with --passphrase-file"
            )
        case .proposal(let fault):
            switch fault {
            case .unknown: self.init(404, "notFound", fault.description)
            case .done, .tooMany: self.init(409, "conflict", fault.description, rule: "proposal")
            case .notDelegated, .nothingPublished, .sameChannel, .notListed, .listingRemoved, .noOlder, .otherContent:
                self.init(422, "refused", fault.description, hint: fault.hint, rule: "proposal")
            }
        case .noRelease(let channel, let version):
            self.init(
                404,
                "notFound",
                "the history of \(channel) has no release \(version)",
                hint: "patchsrv history shows the releases"
            )
        case .tooManyAnswers(let limit):
            self.init(
                409,
                "conflict",
                "they have answers for \(limit) patches already",
                hint: "remove one first",
                rule: "answers"
            )
        case .answersFull(let channel, let limit):
            self.init(
                409,
                "conflict",
                "\(channel) has \(limit) answers already",
                hint: "remove some, or sign a condition into the release instead",
                rule: "answers"
            )
        case .busy: self.init(503, "busy", "too many changes wait already", retryAfter: 5)
        case .keyRefused(let why):
            self.init(
                422,
                "refused",
                why,
                hint: "send it as patchsign wrote it, encrypted with the passphrase that the server has",
                rule: "onlineKey"
            )
        case .keyUnusable: self.init(503, "keyLocked", "the server cannot open its online key")
        }
    }

    init(_ error: ServerError) {
        let text = error.description
        switch error {
        case .file(.noSpace), .locked(.file(.noSpace)): self.init(diskFull: "nothing of it is visible")
        case .locked(.held):
            self.init(503, "busy", "another process changes the server's folder", retryAfter: 5)
        case .movedOn: self.init(503, "busy", text, retryAfter: 1)
        case .file, .locked, .release(.file):
            self.init(503, "unavailable", "the server's folder cannot be read or written")
        case .unknownApp: self.init(404, "notFound", text)
        case .noChannel(_, _, let known): self.init(404, "notFound", text, hint: ServerError.hint(channels: known))
        case .conflict(.outdated):
            self.init(
                409,
                "conflict",
                text,
                hint: "make it again from the current one: `patchsign release … --server URL` fetches that",
                rule: "base"
            )
        case .conflict: self.init(409, "conflict", text, rule: "base")
        case .appExists: self.init(409, "conflict", text, rule: "app")
        case .dial(.outdated): self.init(409, "conflict", text, hint: "read the dial again", rule: "expect")
        case .dial(.headcountLowered):
            self.init(
                409,
                "conflict",
                text,
                hint: "a head-count can only be raised; pause it instead",
                rule: "headcount"
            )
        case .dial(.notListed), .dial(.unpublished):
            self.init(404, "notFound", text, hint: "patchsrv list shows the published versions; nothing was changed")
        case .dial(.notNew):
            self.init(422, "refused", text, hint: "name a patch whose version is new", rule: "rollout")
        case .dial(.aboveCeiling):
            self.init(422, "refused", text, hint: "a release with a higher share raises it", rule: "ceiling")
        case .dial: self.init(422, "refused", text)
        case .parameters(.outdated):
            self.init(409, "conflict", text, hint: "read the parameters again", rule: "expect")
        case .parameters(.unpublished):
            self.init(404, "notFound", text, hint: "publish a release to it first: patchsign push")
        case .parameters: self.init(422, "refused", text)
        case .release(.format(let error)): self.init(422, "refused", text, rule: error.rule)
        case .release(.missing): self.init(422, "refused", text, rule: "complete")
        case .release(.trust(.expired)):
            self.init(
                422,
                "refused",
                text,
                hint: "nothing was published; patchsign release renew makes a release again, "
                    + "patchsign root draft root and targets",
                rule: "trust"
            )
        case .release(.trust(.threshold)):
            self.init(
                422,
                "refused",
                text,
                hint: "nothing was published; patchsign release sign adds a key holder's signature",
                rule: "trust"
            )
        case .release(.trust): self.init(422, "refused", text, hint: "nothing was published", rule: "trust")
        case .republished:
            self.init(
                422,
                "refused",
                text,
                hint: "nothing was published; give the new content a new version",
                rule: "trust"
            )
        case .labelsFull, .sharedOnlineKey, .testingKey, .malformed, .setup, .trust, .exhausted:
            self.init(422, "refused", text)
        case .key, .notOnlineKey: self.init(503, "keyLocked", "the server cannot use its online key")
        case .clockBehind:
            self.init(503, "unavailable", text, hint: "an operator of the server must set its clock: patchsrv doctor")
        case .ended, .tree, .treeFileMissing, .record:
            self.init(503, "unavailable", text, hint: "an operator of the server must check it: patchsrv status")
        }
    }

    init(_ error: UploadError) {
        switch error {
        case .operations(let error): self.init(error)
        case .otherApp(let app):
            self.init(422, "refused", "the release is for \(app)", hint: "upload it to that app", rule: "app")
        case .unknown: self.init(404, "notFound", "there is no such upload", hint: "begin it again: nothing is lost")
        case .malformed(let error): self.init(422, "refused", error.description, rule: error.rule)
        case .notWanted(let sha256):
            self.init(404, "notFound", "\(sha256.hex) is stored already, or not part of this release")
        case .inUse(let sha256):
            self.init(409, "conflict", "another client is sending \(sha256.hex)", rule: "one sender")
        case .wrongOffset(_, let next):
            self.init(409, "wrongOffset", "the next byte is \(next)", rule: "Upload-Offset", facts: ["offset": next])
        case .tooLong(_, let size):
            self.init(422, "refused", "this part has \(size) bytes in the release", rule: "size")
        case .badForm(_, let error):
            self.init(422, "refused", error.description, hint: "send it as it is", rule: "Content-Encoding")
        case .badPack(_, let error):
            self.init(422, "refused", error.description, hint: "send the parts as they are", rule: "pack")
        case .noBase(let sha256):
            self.init(404, "notFound", "the tree has no version with the manifest \(sha256.hex) to make it of")
        case .wrongBytes(let sha256):
            self.init(
                422,
                "refused",
                "the digest of these bytes is not \(sha256.hex); they were deleted",
                rule: "sha256"
            )
        case .incomplete(let missing):
            self.init(
                409,
                "incomplete",
                "\(missing) parts are missing",
                hint: "GET the upload lists them",
                facts: ["missing": missing]
            )
        case .tooLarge(let bytes, let limit):
            self.init(413, "tooLarge", "the release has \(bytes) bytes; the limit is \(limit)")
        case .tooMany(let limit):
            self.init(
                409,
                "tooManyUploads",
                "\(limit) uploads of this app are unfinished",
                hint: "finish or remove one; an idle upload is removed after two days"
            )
        case .file(.noSpace): self.init(diskFull: "the received bytes are kept")
        case .file: self.init(503, "unavailable", "the server's folder cannot be read or written")
        case .interrupted: self.init(400, "interrupted", "the body did not come whole; the received bytes are kept")
        }
    }
}
