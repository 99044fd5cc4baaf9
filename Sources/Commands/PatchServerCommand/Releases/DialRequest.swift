import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService
import ServerRecords

/// A request of `dial` or `rollout` to a server, in its folder or over HTTP.
struct DialRequest {
    enum Default: Equatable {
        case stays
        /// The share in devices of 10,000, or nil for the signed ceiling.
        case becomes(Int?)
    }

    let changes: [DialChange]
    let reason: String?
    /// The version of the dial role that the operator read.
    let expect: Int?
    let usual: Default

    init(_ changes: [DialChange], reason: String? = nil, expect: Int? = nil, default usual: Default = .stays) {
        (self.changes, self.reason, self.expect, self.usual) = (changes, reason, expect, usual)
    }

    var isQuestion: Bool { changes.isEmpty && usual == .stays }

    /// The request in the API's form.
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
    /// Carries the request out, or shows the present state if it contains no change.
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
            // A request without changes creates no records.
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
    /// The change in the API's form.
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
