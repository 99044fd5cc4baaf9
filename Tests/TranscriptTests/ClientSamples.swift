import HTTPCore
import PatchFetch
import PatchFormat
import PatchStore
import PatchTrust
import ReleaseClient
import ReleaseFolder
import CommandKit

extension ServiceError: Sampled {
    static var samples: [ServiceError] {
        let problems = [
            ServiceProblem(status: 401, kind: "unauthorized", detail: "the token does not hold"),
            ServiceProblem(status: 400, kind: "http", detail: "the server answered 400"),
            ServiceProblem(status: 404, kind: "http", detail: "the server answered 404"),
            ServiceProblem(status: 403, kind: "forbidden", detail: "this needs the role publisher"),
            ServiceProblem(status: 409, kind: "conflict", detail: "another change came first", hint: "try again"),
            ServiceProblem(status: 413, kind: "http", detail: "the server answered 413"),
            ServiceProblem(status: 415, kind: "http", detail: "the server answered 415"),
            ServiceProblem(status: 503, kind: "busy", detail: "too many changes wait", retryAfter: 3),
        ]
        let many = (1...7).compactMap { AppID("com.example.app\($0)") }
        return problems.map { .problem($0) }
            + [
                .otherApp(Sample.app, has: [Sample.otherApp], at: Sample.server),
                .otherApp(Sample.app, has: many, at: Sample.server), .otherApp(Sample.app, has: [], at: Sample.server),
                .otherRoot(Sample.app, version: 3, at: Sample.server), .notProven(Sample.server),
                .unidentified(Sample.server),
            ]
            + [
                .connection("the network is unreachable"), .timedOut("/api/v1/apps"),
                .tls(host: "updates.example.com", reason: "it was refused"), .noAuthority,
                .notEncrypted(host: "updates.example.com"), .redirected(to: "https://example.com/"),
                .intercepted(.redirect(to: "http://login.example.net/")), .intercepted(.status(511)),
                .intercepted(.page),
                .tooLarge("/api/v1/apps", limit: 1_000_000), .malformed(Sample.format),
                .otherChange(asked: .rollBack(to: 7), offered: .rollBack(to: 3)),
                .otherChange(asked: .promote(from: Sample.beta), offered: .withdraw(Sample.patch, version: nil)),
                .lacking("5e5e"), .changed("objects/5e"), .endless, .file(.noSpace(.write, Sample.path)),
                .trust(.threshold(role: "root", valid: 0, needed: 1)),
                .trust(.rolledBack(role: "beta", offered: 1, trusted: 2)), .trust(.droppedFromSnapshot(role: "beta")),
                .release(.missing("list.json")),
                .noRelease(Sample.beta), .noRollout, .severalApps([]), .severalApps([Sample.app, Sample.otherApp]),
                .cancelled,
            ] + AnswerFault.samples.map { .answer($0) }
    }

    var isSampled: Bool {
        switch self {
        case .problem, .connection, .timedOut, .tls, .noAuthority, .notEncrypted, .redirected, .intercepted, .tooLarge,
            .malformed,
            .otherChange, .answer, .lacking, .changed, .endless, .file, .trust, .release, .noRelease, .noRollout,
            .severalApps,
            .otherApp, .otherRoot, .notProven, .unidentified, .cancelled:
            true
        }
    }
}

extension AnswerFault: Sampled {
    static let samples: [AnswerFault] = [.status(7), .interimAnswers(limit: 16), .outOfOrder]

    var isSampled: Bool {
        switch self {
        case .status, .interimAnswers, .outOfOrder: true
        }
    }
}

extension PassphraseError: Sampled {
    static let samples: [PassphraseError] = [
        .noTerminal, .terminal(SystemError(5)), .interrupted, .ended, .notTheSameTwice, .empty(.terminal),
        .empty(.file("-")), .empty(.file("online.pass")), .empty(.environment("PASS")), .tooLong(.file("online.pass")),
        .tooShort(.terminal, characters: 1), .tooShort(.environment("PASS"), characters: 5),
        .unreadable(file: "online.pass", SystemError(2)), .unreadable(file: "-", SystemError(5)),
        .notSet(variable: "PASS"),
    ]

    var isSampled: Bool {
        switch self {
        case .noTerminal, .terminal, .interrupted, .ended, .notTheSameTwice, .empty, .tooLong, .tooShort, .unreadable,
            .notSet:
            true
        }
    }
}
