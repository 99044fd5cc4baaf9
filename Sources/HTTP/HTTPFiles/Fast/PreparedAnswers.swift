import NIOCore

/// The answers of one event loop that were given before, found again by the exact bytes of a request's head.
///
/// Bytes that are equal were parsed before, by the one parser there is; so a known head is never read a second time.
/// What is kept is bounded by ``limit``: answers live in two generations, and when the younger has half of it the older
/// goes. What is asked for again moves to the younger.
///
/// A large file stays open with its answer, so one that is removed gives its space back only when it is asked for again,
/// when the source's edition changes, or when its generation goes.
struct PreparedAnswers {
    /// Longer heads are not remembered; no browser sends them again and again.
    static let maxHeadBytes = 4096

    /// Bytes of heads, responses and bodies together.
    let limit: Int
    private var edition: Int?
    private var younger: [ByteBuffer: PreparedAnswer] = [:]
    private var older: [ByteBuffer: PreparedAnswer] = [:]
    private var youngerCost = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// The answer to `head`, if it is still true; a newer `edition` forgets all that was remembered.
    mutating func answer(to head: ByteBuffer, edition: Int) -> PreparedAnswer? {
        guard edition == self.edition else {
            self = PreparedAnswers(limit: limit)
            self.edition = edition
            return nil
        }
        if let answer = younger[head] {
            if answer.isCurrent { return answer }
            younger[head] = nil
            youngerCost -= Self.cost(of: head, answer)
        } else if let answer = older.removeValue(forKey: head), answer.isCurrent {
            remember(answer, to: head, edition: edition)
            return answer
        }
        return nil
    }

    /// - Parameter edition: as it was before the source was asked.
    mutating func remember(_ answer: PreparedAnswer, to head: ByteBuffer, edition: Int) {
        guard edition == self.edition, answer.isLasting, head.readableBytes <= Self.maxHeadBytes else { return }
        // A copy of its own: the head is a slice of all that was read with it.
        let key = ByteBuffer(bytes: head.readableBytesView)
        let cost = Self.cost(of: key, answer)
        if youngerCost + cost > limit / 2 {
            (older, younger, youngerCost) = (younger, [:], 0)
        }
        guard cost <= limit / 2, younger.updateValue(answer, forKey: key) == nil else { return }
        youngerCost += cost
    }

    var count: Int { younger.count + older.count }

    /// 512: what a dictionary's entry and the objects around the bytes take.
    private static func cost(of head: ByteBuffer, _ answer: PreparedAnswer) -> Int {
        head.readableBytes + answer.cost + 512
    }
}
