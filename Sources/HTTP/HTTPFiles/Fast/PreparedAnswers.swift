import NIOCore

/// The answers that one event loop has given before, by the exact bytes of a request's head.
///
/// A head of equal bytes was parsed before by the same parser, so it is not parsed a second time. The memory is bounded by
/// ``limit``: answers are in two generations, and when the younger one reaches half of the limit, the older one is dropped. An
/// answer that is used again moves to the younger one.
///
/// A large file stays open with its answer. The space of a removed file is freed only when the file is requested again, when the
/// source's edition changes, or when its generation is dropped.
struct PreparedAnswers {
    /// Longer heads are not remembered: browsers do not repeat them.
    static let maxHeadBytes = 4096

    /// The limit for heads, responses and bodies together, in bytes.
    let limit: Int
    private var edition: Int?
    private var younger: [ByteBuffer: PreparedAnswer] = [:]
    private var older: [ByteBuffer: PreparedAnswer] = [:]
    private var youngerCost = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the answer to `head` if it is still valid.
    ///
    /// A new `edition` removes all answers.
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

    /// - Parameter edition: The edition before the source was asked.
    mutating func remember(_ answer: PreparedAnswer, to head: ByteBuffer, edition: Int) {
        guard edition == self.edition, answer.isLasting, head.readableBytes <= Self.maxHeadBytes else { return }
        // Copied, because the head is a slice of all bytes that were read with it.
        let key = ByteBuffer(bytes: head.readableBytesView)
        let cost = Self.cost(of: key, answer)
        if youngerCost + cost > limit / 2 {
            (older, younger, youngerCost) = (younger, [:], 0)
        }
        guard cost <= limit / 2, younger.updateValue(answer, forKey: key) == nil else { return }
        youngerCost += cost
    }

    var count: Int { younger.count + older.count }

    /// 512: the size of a dictionary entry and of the objects around the bytes.
    private static func cost(of head: ByteBuffer, _ answer: PreparedAnswer) -> Int {
        head.readableBytes + answer.cost + 512
    }
}
