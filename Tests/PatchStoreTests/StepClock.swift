/// A clock on which every sleep is over at once.
final class StepClock: Clock, @unchecked Sendable {  // Only ever used by one task.
    struct Instant: InstantProtocol {
        var offset: Swift.Duration

        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private(set) var now = Instant(offset: .zero)
    private(set) var sleeps = 0
    let minimumResolution = Swift.Duration.nanoseconds(1)
    private let atSleep: (Int) throws -> Void

    /// - Parameter atSleep: what happens meanwhile, with the number of the sleep.
    init(atSleep: @escaping (Int) throws -> Void) {
        self.atSleep = atSleep
    }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        sleeps += 1
        now = deadline
        try atSleep(sleeps)
    }
}
