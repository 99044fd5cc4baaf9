/// How often a request was made in vain, and when it is made again.
///
/// Pure. What moved bytes forward starts the count anew: a bad line is slow, and no reason to give up.
package struct Attempts {
    private let limit: Int
    private var backoff = Backoff.device
    /// In a row, without a byte of progress.
    private var failures = 0

    package init(_ deadlines: Deadlines) {
        limit = deadlines.retries
        backoff.patience = .upTo(deadlines.retryAfter)
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
        let asked = errors.compactMap(\.retryAfter).min()
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

    fileprivate var retryAfter: Duration? {
        if case .busy(_, _, let seconds) = self { .seconds(seconds) } else { nil }
    }
}
