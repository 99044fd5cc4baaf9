/// Where a host runs what its patches leave for later: `dispatch_after` and its kin.
///
/// Work takes the host's lock by itself. JSPatch's main queue and its global queues are told apart, so that an app can keep to
/// its own main thread.
public protocol PatchExecutor: Sendable {
    func run(on queue: PatchQueue, after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

public enum PatchQueue: String, Sendable { case main, global }

/// Runs each piece of work as a task of its own.
public struct TaskExecutor: PatchExecutor {
    public init() {}

    public func run(on queue: PatchQueue, after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        Task {
            if delay > .zero { try? await Task.sleep(for: delay) }
            work()
        }
    }
}
