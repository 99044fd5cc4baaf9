package import PatchChoice
package import PatchFormat

/// What happened on a device: the event of `serve --json`, or one of its own, and what it is for a patch.
package struct DeviceEvent: Sendable {
    /// What a question came to, or that something was taken back.
    package enum Answer: Equatable, Sendable {
        case asked(AskedRule.Question, isHit: Bool)
        case rollback
    }

    package let type: PatchEventType
    /// As `patchsync serve --json` names it, where it has one.
    package let name: String
    package let members: [(String, JSON?)]
    package let answer: Answer?

    package init(
        _ type: PatchEventType,
        _ name: String,
        _ members: [(String, JSON?)] = [],
        answer: Answer? = nil
    ) {
        (self.type, self.name, self.members, self.answer) = (type, name, members, answer)
    }

    init(_ type: PatchEventType, _ event: ServeEvent, answer: Answer? = nil) {
        self.init(type, event.name, event.members, answer: answer)
    }

    /// - Parameters:
    ///   - store: as the settings file names it.
    ///   - id: nil where nobody asks for what came after it.
    package func json(at time: UTCTime, store: String?, id: String?) -> JSON {
        .fields(
            [
                ("id", id.map { .text($0) }), ("at", .text(time.description)), ("store", store.map { .text($0) }),
                ("type", .integer(type.rawValue)), ("typeName", .text(type.name)), ("event", .text(name)),
                ("data", answer?.json),
            ] + members
        )
    }
}

extension DeviceEvent.Answer {
    fileprivate var json: JSON {
        switch self {
        case .asked(.share(let share), let isHit): .fields([("isHit", .bool(isHit)), ("gray", .integer(share))])
        case .asked(.condition(let text), let isHit):
            .fields([("isHit", .bool(isHit)), ("condition", .text(text))])
        case .rollback: .fields([("rollback", .bool(true))])
        }
    }
}
