import PatchFormat
import CommandKit

/// The change of an audit entry on one line: its subject, and the values before and after.
extension JSON {
    /// - Parameter isWhole: Whether long values are written in full: for a program or a file, not for a terminal.
    func auditCells(isWhole: Bool) -> [Table.Cell] {
        let actor = self["actor"]?.words("name") ?? ""
        let by = actor.isEmpty ? self["actor"]?.words("kind") ?? "" : actor
        return [
            Table.Cell(words("number")), Table.Cell(words("time")), Table.Cell(words("action")),
            Table.Cell(words("app")), Table.Cell(words("channel")), Table.Cell(by),
            Table.Cell(auditWords(isWhole: isWhole)),
        ]
    }

    /// Empty if the action describes the whole change.
    func auditWords(isWhole: Bool) -> String {
        let (before, after) = (self["before"] ?? .null, self["after"] ?? .null)
        return switch words("action") {
        case "token.create", "token.revoke":
            "\(after.words("id")) \(after.words("name")) (\(after.texts("grants").joined(separator: " ")))"
        case "dial.turn": Self.dial(before, after)
        case "parameters.change": Self.parameters(before["parameters"], after["parameters"], isWhole)
        case "answer.set", "answer.remove": Self.answer(before, after)
        case "history.edit":
            "release \(after.words("roleVersion")): " + Self.changes(before, after, of: ["label", "notes"], isWhole)
        case "release.publish", "release.draft", "release.repair":
            [
                ["\(before.release(or: "nothing")) → \(after.release(or: "?"))", after.words("label")]
                    .filter { !$0.isEmpty }.joined(separator: ", "),
                after.versionWords,
            ].filter { !$0.isEmpty }.joined(separator: ": ")
        case "draft.remove": "draft \(before.words("roleVersion"))"
        case "server.restore":
            "backup of \(before.words("backup")): "
                + after.items("apps").map { "\($0.words("app")) continues above \($0.words("above"))" }
                .joined(separator: "; ")
        case "clock.accept": "\(before.words("time")) → \(after.words("time"))"
        default: Self.members(before, after, isWhole)
        }
    }

    /// The versions that a release changed: `web 2.1.0, fix 3, without web 1.9.0, withdrawn web 1.8.0`.
    ///
    /// Empty if the entry names none.
    private var versionWords: String {
        let withdrawn = texts("withdrawn")
        let removed = texts("removed").filter { !withdrawn.contains($0) }
        let more = number("more").map { ["\($0) more"] } ?? []
        return
            (texts("added") + removed.map { "without \($0)" } + withdrawn.map { "withdrawn \($0)" } + more)
            .joined(separator: ", ")
    }

    private func release(or none: String) -> String { self["roleVersion"] == nil ? none : words("roleVersion") }

    /// The changed versions of the dial: `web 1.4.2: 100% → paused`.
    private static func dial(_ before: JSON, _ after: JSON) -> String {
        func key(_ version: JSON) -> String { version.words("sha256") }
        let old = Dictionary(before.items("versions").map { (key($0), $0) }) { first, _ in first }
        let lines = after.items("versions").compactMap { version -> String? in
            let (was, now) = (old[key(version)].map(Self.setting) ?? "new", Self.setting(version))
            guard was != now else { return nil }
            let reason = version.words("reason")
            return "\(version.words("patchId")) \(version.words("version")): \(was) → \(now)"
                + (reason.isEmpty ? "" : " (\(reason))")
        }
        return lines.joined(separator: "; ")
    }

    private static func setting(_ version: JSON) -> String {
        let share = version.number("effective").map { "\(RolloutShare($0))" } ?? "?"
        let places = version.number("headcount").map { ", \($0) places" } ?? ""
        return (version.isTrue("paused") ? "paused at \(share)" : share) + places
    }

    private static func parameters(_ before: JSON?, _ after: JSON?, _ isWhole: Bool) -> String {
        let names = Set([before, after].flatMap { $0?.object?.members.map(\.key.text) ?? [] }).sorted()
        return names.filter { before?[$0] != after?[$0] }
            .map { "\(printable($0)): \(value(before?[$0], isWhole)) → \(value(after?[$0], isWhole))" }.joined(
                separator: "; "
            )
    }

    /// The change of an answer: `everyone web: nothing → 1.5.0, forced`.
    private static func answer(_ before: JSON, _ after: JSON) -> String {
        func choice(_ answer: JSON) -> String {
            guard answer["patchId"] != nil else { return "nothing" }
            return answer.isTrue("hold")
                ? "hold" : answer.words("version") + (answer.isTrue("forced") ? ", forced" : "")
        }
        let named = after["patchId"] == nil ? before : after
        return "\(named.words("for").prefix(12)) \(named.words("patchId")): \(choice(before)) → \(choice(after))"
    }

    private static func changes(_ before: JSON, _ after: JSON, of keys: [String], _ isWhole: Bool) -> String {
        keys.filter { before[$0] != after[$0] }
            .map { "\($0): \(value(before[$0], isWhole)) → \(value(after[$0], isWhole))" }.joined(separator: "; ")
    }

    /// The simple members of any other entry, if they are new or changed.
    private static func members(_ before: JSON, _ after: JSON, _ isWhole: Bool) -> String {
        (after.object?.members ?? before.object?.members ?? []).compactMap { member -> String? in
            let (key, was) = (member.key.text, before[member.key.text])
            switch member.value {
            case .array, .object, .null: return nil
            case .bool, .integer, .string:
                if was == member.value, after != .null { return nil }
                let old = was.map { after == .null ? "" : "\(value($0, isWhole)) → " } ?? ""
                return "\(printable(key)) \(old)\(value(member.value, isWhole))"
            }
        }.joined(separator: ", ")
    }

    private static func value(_ json: JSON?, _ isWhole: Bool) -> String {
        guard let json else { return "nothing" }
        switch json {
        case .string(let text):
            return !isWhole && text.text.count > 40
                ? "\(printable(String(text.text.prefix(39))))…" : printable(text.text)
        case .null: return "nothing"
        case .bool, .integer, .array, .object: return printable(String(decoding: json.fileBytes, as: UTF8.self))
        }
    }
}
