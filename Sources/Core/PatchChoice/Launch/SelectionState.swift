package import PatchFormat
package import PatchCrypto

/// A name that one launch of one trial goes by, so that an "I am ready" of another counts for nothing (X8).
package struct LaunchToken: RandomText, CustomStringConvertible {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    package var description: String { text }
}

/// Which selection this device runs, and whether it has proved itself.
///
/// ```
/// empty ──▶ settled(s) ──stage──▶ pending(good, next) ──switch or launch──▶ trying(good, trial) ──confirm──▶ settled(trial)
///                                        ▲                                  │  page asked for: the launch counts
///                                        │                                  ├──limit or startup timer──▶ settled(good)
///                                        ├──────its files were altered──────┤
///                                        └──stage, while no launch counts───┘
/// ```
///
/// `good` is nil on a device that has never confirmed anything. Where the app ships nothing either, a trial has nothing to go
/// back to and is never taken away:
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

    /// How often a trial was started, and the name of the last start.
    package struct TrialLaunch: Equatable, Sendable {
        /// No more are counted.
        package static let most = 1_000

        package var token: LaunchToken
        package var launches: Int
        /// Whether the last start is among them: not before a page of it was asked for, where it has pages, nor after it stopped
        /// in good order, nor while it is in the background.
        package var isCounted: Bool
        /// The first error of a page of this trial, in any of its launches.
        package var error: PageError?

        package init(token: LaunchToken, launches: Int, isCounted: Bool = true, error: PageError? = nil) {
            (self.token, self.launches, self.isCounted, self.error) = (token, launches, isCounted, error)
        }
    }

    /// What runs, or would run at a launch that changes nothing.
    package var running: Selection? {
        switch self {
        case .empty: nil
        case .settled(let selection): selection
        case .pending(let good, _): good
        case .trying(_, let trial, _): trial
        }
    }

    /// What proved itself last.
    package var good: Selection? {
        switch self {
        case .empty: nil
        case .settled(let selection): selection
        case .pending(let good, _), .trying(let good, _, _): good
        }
    }

    /// What waits or is on trial.
    var unproven: Selection? {
        switch self {
        case .empty, .settled: nil
        case .pending(_, let next): next
        case .trying(_, let trial, _): trial
        }
    }

    /// Every selection whose files must stay.
    package var kept: [Selection] {
        switch self {
        case .empty: []
        case .settled(let selection): [selection]
        case .pending(let good, let next): [good, next].compactMap(\.self)
        case .trying(let good, let trial, _): [good, trial].compactMap(\.self)
        }
    }

    /// Settled on a selection, or on nothing.
    package static func resting(_ selection: Selection?) -> SelectionState {
        selection.map { .settled($0) } ?? .empty
    }
}

extension SelectionState {
    /// The selection from which versions are chosen: what runs, or would if nothing were pending.
    package var choiceBase: Selection? { running }
}
