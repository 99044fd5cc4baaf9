/// Jobs for later times, ordered by time.
///
/// Pure: the caller passes the time. Jobs with the same time are returned in the order in which they were added.
struct LaterJobs<Job> {
    fileprivate struct Later {
        let time: Duration
        let job: Job
    }

    /// The jobs, with the next one last.
    private var jobs: [Later] = []

    /// The time of the next job, or nil if there is none.
    var next: Duration? { jobs.last?.time }

    /// - Parameter time: The time on the same clock as ``takeDue(at:)``.
    mutating func add(_ job: Job, at time: Duration) {
        var (low, high) = (0, jobs.count)
        while low < high {
            let middle = (low + high) / 2
            if jobs[middle].time < time { high = middle } else { low = middle + 1 }
        }
        // The job is placed after later jobs, and before earlier ones and those with the same time: of these, the first added is
        // last.
        while low > 0, jobs[low - 1].time == time { low -= 1 }
        jobs.insert(Later(time: time, job: job), at: low)
    }

    /// Removes and returns the due jobs, the earliest first.
    mutating func takeDue(at now: Duration) -> [Job] {
        let first = jobs.firstIndex { $0.time <= now } ?? jobs.count
        defer { jobs.removeSubrange(first...) }
        return jobs[first...].reversed().map(\.job)
    }
}

extension LaterJobs: Sendable where Job: Sendable {}
extension LaterJobs.Later: Sendable where Job: Sendable {}
