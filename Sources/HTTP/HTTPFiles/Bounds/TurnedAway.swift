import NIOConcurrencyHelpers
import NIOCore
import Synchronization

/// Why a connection ended, or was refused, without an answer to a possible request.
package enum LossOfConnection: String, CaseIterable, Sendable {
    /// Refused: there was no room.
    case refused
    /// Closed while it waited, because another connection needed its place.
    case room
    /// Closed because it fell behind the least rate, or its handshake took too long.
    case slow
}

/// Counts the clients that found no room.
///
/// The count shows whether a missing answer was the server's fault.
///
/// Other users of this machine are not counted, because they have a limit of their own.
package final class TurnedAway: Sendable {
    private let number = Atomic(0)

    package init() {}

    package var count: Int { number.load(ordering: .relaxed) }

    func add() {
        number.wrappingAdd(1, ordering: .relaxed)
    }
}

/// The losses since the last log line about them.
///
/// A flood of losses makes one line a minute instead of one per connection.
struct LossTally: Equatable, Sendable {
    /// The interval between two lines.
    static let interval = TimeAmount.seconds(60)
    /// The most groups that are counted by name.
    ///
    /// Further groups have no name in a line.
    static let namedLimit = 1_000

    private(set) var counts: [LossOfConnection: Int] = [:]
    private var groups: [String: Int] = [:]
    private var isLineDue = false

    enum Next: Equatable, Sendable {
        /// The first loss in a while is logged at once.
        case report(String, nextCheckIn: TimeAmount)
        case nothing
    }

    mutating func add(_ loss: LossOfConnection, of group: ClientGroup) -> Next {
        counts[loss, default: 0] += 1
        if groups.count < Self.namedLimit || groups[group.text] != nil { groups[group.text, default: 0] += 1 }
        guard !isLineDue else { return .nothing }
        isLineDue = true
        return .report(takeLine(), nextCheckIn: Self.interval)
    }

    /// Makes the next line after a minute.
    mutating func look() -> Next {
        guard !counts.isEmpty else {
            isLineDue = false
            return .nothing
        }
        return .report(takeLine(), nextCheckIn: Self.interval)
    }

    private mutating func takeLine() -> String {
        defer { (counts, groups) = ([:], [:]) }
        let words: [(LossOfConnection, String)] = [
            (.refused, "refused"), (.room, "closed to make room"), (.slow, "closed because they were too slow"),
        ]
        let said = words.compactMap { loss, words in counts[loss].map { "\($0) \(words)" } }.joined(separator: ", ")
        let most = groups.max { ($0.value, $1.key) < ($1.value, $0.key) }.map { "; most of \($0.key): \($0.value)" }
        return "connections: \(said)\(most ?? "")"
    }
}

/// Reports lost connections: each one to the meter, and a summary to the log at intervals.
struct LossReport: Sendable {
    private let tally = NIOLockedValueBox(LossTally())
    let meter: (any TrafficMeter)?
    let turnedAway: TurnedAway?
    /// Called with one escaped line.
    let log: (@Sendable (String) -> Void)?

    func add(_ loss: LossOfConnection, of group: ClientGroup, on loop: any EventLoop) {
        meter?.connectionLost(loss)
        if loss != .slow, !group.isOtherUser { turnedAway?.add() }
        guard log != nil else { return }
        follow(tally.withLockedValue { $0.add(loss, of: group) }, on: loop)
    }

    private func follow(_ next: LossTally.Next, on loop: any EventLoop) {
        guard case .report(let line, let time) = next else { return }
        log?(line)
        loop.scheduleTask(in: time) { follow(tally.withLockedValue { $0.look() }, on: loop) }
    }
}

extension ClientGroup {
    fileprivate var isOtherUser: Bool {
        if case .user = self { true } else { false }
    }
}
