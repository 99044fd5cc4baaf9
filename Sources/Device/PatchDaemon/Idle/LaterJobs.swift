/// What is to be done later, the next first.
///
/// Pure: the time comes in. What is due at the same time comes out in the order in which it came in.
struct LaterJobs<Job> {
    fileprivate struct Later {
        let time: Duration
        let job: Job
    }

    /// The last is the next.
    private var jobs: [Later] = []

    /// When the next is due; nil where there is none.
    var next: Duration? { jobs.last?.time }

    /// - Parameter time: on the clock that ``takeDue(at:)`` goes by.
    mutating func add(_ job: Job, at time: Duration) {
        var (low, high) = (0, jobs.count)
        while low < high {
            let middle = (low + high) / 2
            if jobs[middle].time < time { high = middle } else { low = middle + 1 }
        }
        // Behind those that are later, before those that are sooner or at the same time: of these, what came first is last.
        while low > 0, jobs[low - 1].time == time { low -= 1 }
        jobs.insert(Later(time: time, job: job), at: low)
    }

    /// Takes out what is due by now, the earliest first.
    mutating func takeDue(at now: Duration) -> [Job] {
        let first = jobs.firstIndex { $0.time <= now } ?? jobs.count
        defer { jobs.removeSubrange(first...) }
        return jobs[first...].reversed().map(\.job)
    }
}

extension LaterJobs: Sendable where Job: Sendable {}
extension LaterJobs.Later: Sendable where Job: Sendable {}
