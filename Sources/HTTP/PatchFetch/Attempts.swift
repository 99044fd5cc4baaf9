package import HTTPCore

/// Counts a request's failed tries and decides about the next one.
///
/// Pure. Progress restarts the count: a bad line is slow, and no reason to give up.
package struct Attempts {
    private let limit: Int
    private let longestRetryAfter: Duration
    private var backoff = Backoff.device
    /// Consecutive failures without a byte of progress.
    private var failures = 0

    package init(_ deadlines: Deadlines) {
        limit = deadlines.retries
        longestRetryAfter = deadlines.retryAfter
        backoff.patience = .upTo(longestRetryAfter)
    }

    package enum Next: Equatable {
        case again(after: Duration)
        case giveUp
    }

    /// - Parameters:
    ///   - errors: One error of each server that was asked.
    ///   - progress: Whether any server delivered bytes that the next try need not request.
    ///   - random: As for ``Backoff``.
    package mutating func failed(_ errors: [FetchError], progress: Bool, random: Double) -> Next {
        if progress { failures = 0 }
        failures += 1
        let asked = errors.compactMap { $0.retryAfter?.upTo(longestRetryAfter) }.min()
        guard failures <= limit, errors.contains(where: \.isWorthRetrying),
            let wait = backoff.wait(failures: failures, asked: asked, random: random)
        else { return .giveUp }
        return .again(after: wait)
    }
}

extension FetchError {
    /// False for a request that reached its own deadline, because that is the time it is allowed.
    package var isWorthRetrying: Bool {
        switch self {
        case .timedOut, .syncDeadline: false
        default: isNetwork
        }
    }

    /// The time that the server asks to wait before the next try, if any.
    package var retryAfter: RetryAfter? {
        if case .busy(_, _, let retryAfter) = self { retryAfter } else { nil }
    }
}
