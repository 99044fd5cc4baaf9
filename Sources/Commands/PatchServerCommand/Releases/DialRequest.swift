import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService
import ServerRecords

/// A request of `dial` or `rollout` to a server, in its folder on this machine or over HTTP.
struct DialRequest {
    enum Default: Equatable {
        case stays
        /// In devices of 10,000; nil for the signed ceiling.
        case becomes(Int?)
    }

    let changes: [DialChange]
    let reason: String?
    /// The dial role's version that the operator saw.
    let expect: Int?
    let usual: Default

    init(_ changes: [DialChange], reason: String? = nil, expect: Int? = nil, default usual: Default = .stays) {
        (self.changes, self.reason, self.expect, self.usual) = (changes, reason, expect, usual)
    }

    var isQuestion: Bool { changes.isEmpty && usual == .stays }

    /// As the API takes it.
    var json: JSON {
        let share: JSON? =
            switch usual {
            case .stays: nil
            case .becomes(let share): share.map { .integer($0) } ?? .null
            }
        return .fields([
            ("changes", .array(changes.map(\.json))), ("reason", reason.map { .text($0) }),
            ("expect", expect.map { .integer($0) }), ("default", share),
        ])
    }
}

extension ChannelOptions {
    /// Carries the request out, or shows the present state where nothing is asked for.
    func dial(_ request: DialRequest, _ passphrase: KeyOptions) async throws -> JSON {
        try await answer {
            let repository = try repository
            if !request.changes.isEmpty {
                let key = try passphrase.key(at: repository.onlineKeyFile)
                let operations = try folder.operations(key)
                let outcome = try await ChangeDial(
                    request.changes,
                    in: channel,
                    of: repository.app,
                    expecting: request.expect,
                    by: .here,
                    operations
                ).run()
                return try await Rollouts(operations).describing(outcome.state, outcome.json)
            }
            if case .becomes(let share) = request.usual {
                try await Rollouts(folder.operations()).setUsual(share, of: channel, in: repository.app, by: .here)
            }
            let state = try repository.dial(of: channel)
            // A look leaves no records in a folder that has none.
            guard try DiskFiles().status(of: folder.recordsFile) != nil else { return state.json }
            let operations = try folder.operations()
            let counted = try await operations.counting(state)
            return try await Rollouts(operations).describing(counted, counted.json)
        } there: { service, path in
            guard !request.isQuestion else { return try await service.look("\(path)/dial") }
            return try await service.change(.post, "\(path)/dial", request.json)
        }
    }
}

extension DialChange {
    /// As the API takes it.
    fileprivate var json: JSON {
        let (name, member): (String, (String, JSON)?) =
            switch action {
            case .pause: ("pause", nil)
            case .resume: ("resume", nil)
            case .rollout(let share): ("rollout", ("rollout", .integer(share)))
            case .headcount(let count): ("headcount", ("headcount", .integer(count)))
            case .ramp(let ramp): ("ramp", ("ramp", ramp.json))
            }
        return .fields(
            [("subject", .text(subjectText)), ("action", .text(name))] + (member.map { [($0.0, $0.1)] } ?? [])
        )
    }
}
