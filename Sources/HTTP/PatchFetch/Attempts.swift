/// How often a request was made in vain, and when it is made again.
///
/// Pure. What moved bytes forward starts the count anew: a bad line is slow, and no reason to give up.
package struct Attempts {
    private let limit: Int
    private let longestWish: Duration
    private var backoff = Backoff.device
    /// In a row, without a byte of progress.
    private var failures = 0

    package init(_ deadlines: Deadlines) {
        limit = deadlines.retries
        longestWish = deadlines.retryAfter
        backoff.patience = .upTo(longestWish)
    }

    package enum Next: Equatable {
        case again(after: Duration)
        case giveUp
    }

    /// - Parameters:
    ///   - errors: one of each server that was asked.
    ///   - progress: whether any of them brought bytes that the next try need not ask for.
    ///   - random: as for ``Backoff``.
    package mutating func failed(_ errors: [FetchError], progress: Bool, random: Double) -> Next {
        if progress { failures = 0 }
        failures += 1
        let asked = errors.compactMap { $0.retryAfter?.upTo(longestWish) }.min()
        guard failures <= limit, errors.contains(where: \.isWorthRetrying),
            let wait = backoff.wait(failures: failures, asked: asked, random: random)
        else { return .giveUp }
        return .again(after: wait)
    }
}

extension FetchError {
    /// Not what its own deadline ended: that is as long as it may take.
    package var isWorthRetrying: Bool {
        switch self {
        case .timedOut, .syncDeadline: false
        default: isNetwork
        }
    }

    /// The server's wish for the next try, if it has one.
    package var retryAfter: RetryAfter? {
        if case .busy(_, _, let retryAfter) = self { retryAfter } else { nil }
    }
}
