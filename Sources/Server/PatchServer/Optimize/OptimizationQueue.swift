import PatchDelta
import PatchFormat

/// The files that an optimization makes, in steps.
///
/// Devices with the previous version profit most from its pack, so that is first. New installations profit from the small forms of
/// single files next, then from those of whole bundles. Packs from older versions are last.
struct OptimizationQueue: Sendable {
    enum Step: Sendable {
        case packs([PackPlan.Job])
        /// Both forms of a file are in one step, so a file that has a gzip form has its small zstd form too.
        case forms([CompressionPlan.Job])

        var count: Int {
            switch self {
            case .packs(let jobs): jobs.count
            case .forms(let jobs): jobs.count
            }
        }
    }

    /// A step ends after this many bytes of input, so that little is lost when a process is killed.
    static let stepBytes = 16_000_000
    static let stepFiles = 64

    private(set) var steps: [Step]
    /// The number of files of all steps.
    let total: Int

    /// - Parameters:
    ///   - packs: the nearest bases first.
    ///   - forms: both forms of a file are adjacent.
    init(packs: [PackPlan.Job], forms: [CompressionPlan.Job]) {
        func isWhole(_ job: CompressionPlan.Job) -> Bool { if case .pack = job.item.file { true } else { false } }
        var steps = Self.packs(packs.filter { $0.rank == 0 })
        steps += Self.forms(forms.filter { !isWhole($0) }) + Self.forms(forms.filter(isWhole))
        steps += Self.packs(packs.filter { $0.rank > 0 })
        self.steps = steps
        total = steps.reduce(0) { $0 + $1.count }
    }

    mutating func next() -> Step? { steps.isEmpty ? nil : steps.removeFirst() }

    private static func packs(_ jobs: [PackPlan.Job]) -> [Step] {
        stride(from: 0, to: jobs.count, by: 2).map { .packs(Array(jobs[$0..<min($0 + 2, jobs.count)])) }
    }

    private static func forms(_ jobs: [CompressionPlan.Job]) -> [Step] {
        var (steps, step, bytes) = ([Step](), [CompressionPlan.Job](), 0)
        for job in jobs {
            let isNewFile = step.last.map { $0.item.file != job.item.file } ?? false
            if isNewFile, bytes >= stepBytes || step.count >= stepFiles {
                steps.append(.forms(step))
                (step, bytes) = ([], 0)
            }
            step.append(job)
            bytes += job.item.size
        }
        if !step.isEmpty { steps.append(.forms(step)) }
        return steps
    }
}
