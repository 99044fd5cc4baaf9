/// How often a request was made in vain, and when it is made again.
///
/// Pure. What moved bytes forward starts the count anew: a bad line is slow, and no reason to give up.
struct Attempts {
    private let limit: Int
    private let longestRetryAfter: Duration
    /// In a row, without a byte of progress.
    private var failures = 0

    init(_ deadlines: Deadlines) {
        limit = deadlines.retries
        longestRetryAfter = deadlines.retryAfter
    }

    enum Next: Equatable {
        case again(after: Duration)
        case giveUp
    }

    /// - Parameters:
    ///   - errors: one of each server that was asked.
    ///   - progress: whether any of them brought bytes that the next try need not ask for.
    ///   - random: as for ``RetryWait``.
    mutating func failed(_ errors: [FetchError], progress: Bool, random: Double) -> Next {
        if progress { failures = 0 }
        failures += 1
        guard failures <= limit, errors.contains(where: \.isWorthRetrying) else { return .giveUp }
        let wait = RetryWait(failures: failures, random: random).duration
        let asked = errors.compactMap(\.retryAfter).min() ?? .zero
        return .again(after: max(wait, min(asked, longestRetryAfter)))
    }
}

extension FetchError {
    /// Not what its own deadline ended: that is as long as it may take.
    var isWorthRetrying: Bool {
        switch self {
        case .timedOut, .syncDeadline: false
        default: isNetwork
        }
    }

    fileprivate var retryAfter: Duration? {
        if case .busy(_, _, let seconds) = self { .seconds(seconds) } else { nil }
    }
}
