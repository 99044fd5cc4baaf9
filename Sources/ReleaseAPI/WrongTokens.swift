/// How many wrong tokens are answered: so many of one address, and so many of all addresses together.
struct WrongTokens: Sendable {
    private var ofOne = RateLimiter(60, per: .seconds(60))
    private var ofAll = RateLimiter(1_200, per: .seconds(60))

    /// - Returns: nil while they are answered, else how many seconds it takes until they are again.
    mutating func take(from asker: Asker, at now: Duration) -> Int? {
        // Who has used up their own takes nothing of the others'.
        ofOne.take(asker.name, at: now) ?? ofAll.take("", at: now)
    }
}
