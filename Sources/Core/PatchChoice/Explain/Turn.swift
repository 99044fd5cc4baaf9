package import PatchFormat

/// The smallest change that would make a version pass a rule.
package enum Turn: Equatable, Sendable {
    /// Another app version, in this range.
    case appVersion(String)
    /// Other facts of the device, so that these comparisons hold.
    case facts([String])
    /// A user among those that the version is for.
    case user
    /// The version passes by itself at this time.
    case time(UTCTime)
    /// The version passes at this time, or as soon as its failures on this device are forgotten.
    case unblock(UTCTime)
    /// A valid dial.
    case dial
    /// The operator resumes the version.
    case resume
    /// A higher dial, in devices of 10,000.
    case dialRollout(from: Int, to: Int)
    /// A higher signed ceiling, in devices of 10,000. A release must be signed for it.
    case signedRollout(from: Int, to: Int)
    /// A person approves the version.
    case approval(Label)
    /// The server assigns a place.
    case place
    /// Another native part, the one that the bundle lists, or nil if it lists none for this platform.
    case nativePart(String?)
    /// An engine that knows this rule.
    case engine(String)
    /// A valid condition.
    case readableCondition
    /// Another version label.
    case label
    /// The next sync.
    case sync
    /// An unmetered network, or an allowance of so many bytes.
    case network(allowance: Int?)
    /// So many free bytes on the disk.
    case room(Int)
}

extension Turn {
    /// A stable code for programs.
    ///
    /// Each code is documented.
    package var code: String {
        switch self {
        case .appVersion: "appVersion"
        case .facts: "facts"
        case .user: "user"
        case .time: "time"
        case .unblock: "unblock"
        case .dial: "dial"
        case .resume: "resume"
        case .dialRollout: "dialRollout"
        case .signedRollout: "signedRollout"
        case .approval: "approval"
        case .place: "place"
        case .nativePart: "nativePart"
        case .engine: "engine"
        case .readableCondition: "readableCondition"
        case .label: "label"
        case .sync: "sync"
        case .network: "network"
        case .room: "room"
        }
    }

    package var json: JSON {
        var members: [(String, JSON?)] = [("code", .text(code))]
        switch self {
        case .appVersion(let range): members.append(("appVersion", .text(range)))
        case .facts(let comparisons): members.append(("facts", .array(comparisons.map { .text($0) })))
        case .time(let until), .unblock(let until): members.append(("until", .text(until.description)))
        case .dialRollout(let from, let to), .signedRollout(let from, let to):
            members += [("from", .integer(from)), ("to", .integer(to))]
        case .nativePart(let needs): members.append(("compatibility", needs.map { .text($0) }))
        case .engine(let rule): members.append(("rule", .text(rule)))
        case .network(let allowance): members.append(("allowance", allowance.map { .integer($0) }))
        case .room(let bytes): members.append(("bytes", .integer(bytes)))
        case .approval(let label):
            members += [("patchId", .text(label.patchID.text)), ("version", .text(label.version.text))]
        case .user, .dial, .resume, .place, .readableCondition, .label, .sync: break
        }
        return .fields(members)
    }

    /// The change in words.
    ///
    /// - Parameter wait: Formats the time until the given moment in words.
    package func text(wait: (UTCTime) -> String) -> String {
        switch self {
        case .appVersion(let range): "app version \(range)"
        case .facts(let comparisons): comparisons.joined(separator: " and ")
        case .user: "another user"
        case .time(let until): "in \(wait(until))"
        case .unblock(let until): "unblocked in \(wait(until)), or by `patchsync unblock`"
        case .dial: "a valid dial"
        case .resume: "resumed by its operator"
        case .dialRollout(let from, let to): "dial \(Words.percent(from)) → \(Words.percent(to))"
        case .signedRollout(let from, let to): "signed rollout \(Words.percent(from)) → \(Words.percent(to))"
        case .approval(let label): "`patchsync approve \(label.patchID)@\(label.version)`"
        case .place: "a place"
        case .nativePart(let needs): needs.map { "native part \($0)" } ?? "a bundle for this platform"
        case .engine(let rule): "an engine that knows the rule \(rule)"
        case .readableCondition: "a condition that can be read"
        case .label: "another version label"
        case .sync: "the next sync"
        case .network(let allowance):
            "a network that is not metered" + (allowance.map { ", or an allowance of \(Words.bytes($0))" } ?? "")
        case .room(let bytes): "\(Words.bytes(bytes)) free on the disk"
        }
    }
}

extension Words {
    /// A share of 10,000 devices in percent: `25 %`, `30.43 %`.
    package static func percent(_ share: Int) -> String {
        let (whole, rest) = share.quotientAndRemainder(dividingBy: 100)
        let digits = rest == 0 ? "" : rest % 10 == 0 ? ".\(rest / 10)" : rest < 10 ? ".0\(rest)" : ".\(rest)"
        return "\(whole)\(digits) %"
    }
}
