/// Lets a few worlds run at a time, so that processes do not starve one another on two cores and deadlines mean something.
actor ConcurrencyLimiter {
    static let worlds = ConcurrencyLimiter(places: 4)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        free = places
    }

    func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
