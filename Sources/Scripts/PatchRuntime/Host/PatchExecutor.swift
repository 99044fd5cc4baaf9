/// Runs the work that patches defer with `dispatch_after` and similar functions.
///
/// The work acquires the host's lock itself. The queue distinguishes JSPatch's main queue from its global queues, so that an app
/// can run the former on its main thread.
public protocol PatchExecutor: Sendable {
    func run(on queue: PatchQueue, after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

public enum PatchQueue: String, Sendable { case main, global }

/// Runs each piece of work as a separate task.
public struct TaskExecutor: PatchExecutor {
    public init() {}

    public func run(on queue: PatchQueue, after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        Task {
            if delay > .zero { try? await Task.sleep(for: delay) }
            work()
        }
    }
}
