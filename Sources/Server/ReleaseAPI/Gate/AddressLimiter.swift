/// How often one address may ask within a minute, and all addresses together.
struct AddressLimiter: Sendable {
    private var ofOne: RateLimiter
    private var ofAll: RateLimiter

    init(_ one: Int, ofAll all: Int) {
        ofOne = RateLimiter(one, per: .seconds(60))
        ofAll = RateLimiter(all, per: .seconds(60))
    }

    /// - Returns: nil while they are answered, else how many seconds it takes until they are again.
    mutating func take(from client: LimitedClient, at now: Duration) -> Int? {
        // Who has used up their own takes nothing of the others'.
        ofOne.take(client.name, at: now) ?? ofAll.take("", at: now)
    }
}
