import NIOCore
@_spi(ExperimentalCustomExecutors) import _Concurrency

extension IdleExecutor {
    private struct Factory: ExecutorFactory {
        static let defaultExecutor: any TaskExecutor = IdleExecutor(threads: System.coreCount)
        /// libdispatch's main queue, whose threads libdispatch does not watch.
        static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
    }

    /// Runs all tasks of this process on this executor from now on.
    ///
    /// Call it before the program creates a task.
    ///
    /// Swift 6.3 has this function without a guarantee. If another compiler lacks it, delete this call. The process then wakes up
    /// once a second.
    package static func install() { _createExecutors(factory: Factory.self) }
}
