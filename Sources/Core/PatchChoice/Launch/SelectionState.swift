package import PatchFormat
package import PatchCrypto

/// A random name of one launch of one trial, so that the confirmation of another launch does not count (X8).
package struct LaunchToken: RandomText, CustomStringConvertible {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    package var description: String { text }
}

/// The selection that this device runs, and whether it is confirmed.
///
/// ```
/// empty ──▶ settled(s) ──stage──▶ pending(good, next) ──switch or launch──▶ trying(good, trial) ──confirm──▶ settled(trial)
///                                        ▲                                  │  page asked for: the launch counts
///                                        │                                  ├──limit or startup timer──▶ settled(good)
///                                        ├──────its files were altered──────┤
///                                        └──stage, while no launch counts───┘
/// ```
///
/// `good` is nil on a device that has never confirmed a selection. If no embedded selection exists either, a trial has no rollback
/// target and is never removed:
///
/// ```
/// empty ──stage──▶ pending(next) ──switch or launch──▶ trying(trial): unproven ──confirm──▶ settled(trial)
///                        ▲                               ├──limit or startup timer──▶ stays, nothing is blocked
///                        └────────stage a newer one──────┘
/// ```
package enum SelectionState: Equatable, Sendable {
    case empty
    case settled(Selection)
    case pending(good: Selection?, next: Selection)
    case trying(good: Selection?, trial: Selection, launch: TrialLaunch)

    /// The number of launches of a trial, and the token of the last one.
    package struct TrialLaunch: Equatable, Sendable {
        /// The maximum count.
        package static let most = 1_000

        package var token: LaunchToken
        package var launches: Int
        /// Whether the last launch is counted.
        ///
        /// A trial with pages counts it once a page was requested. It is not counted after the app stopped in order, or while it
        /// is in the background.
        package var isCounted: Bool
        /// The first error of a page of this trial, in any of its launches.
        package var error: PageError?

        package init(token: LaunchToken, launches: Int, isCounted: Bool = true, error: PageError? = nil) {
            (self.token, self.launches, self.isCounted, self.error) = (token, launches, isCounted, error)
        }
    }

    /// The active selection, or the one that would run at a launch without changes.
    package var running: Selection? {
        switch self {
        case .empty: nil
        case .settled(let selection): selection
        case .pending(let good, _): good
        case .trying(_, let trial, _): trial
        }
    }

    /// The last confirmed selection.
    package var good: Selection? {
        switch self {
        case .empty: nil
        case .settled(let selection): selection
        case .pending(let good, _), .trying(let good, _, _): good
        }
    }

    /// The pending selection or the trial.
    var unproven: Selection? {
        switch self {
        case .empty, .settled: nil
        case .pending(_, let next): next
        case .trying(_, let trial, _): trial
        }
    }

    /// All selections whose files must stay.
    package var kept: [Selection] {
        switch self {
        case .empty: []
        case .settled(let selection): [selection]
        case .pending(let good, let next): [good, next].compactMap(\.self)
        case .trying(let good, let trial, _): [good, trial].compactMap(\.self)
        }
    }

    /// Settled on a selection, or empty.
    package static func resting(_ selection: Selection?) -> SelectionState {
        selection.map { .settled($0) } ?? .empty
    }
}

extension SelectionState {
    /// The selection that choices are based on: the active one, or the one that would run if none were pending.
    package var choiceBase: Selection? { running }
}
