import NIOCore
@_spi(ExperimentalCustomExecutors) import _Concurrency

extension IdleExecutor {
    private struct Factory: ExecutorFactory {
        static let defaultExecutor: any TaskExecutor = IdleExecutor(threads: System.coreCount)
        /// libdispatch's main queue, whose threads it does not watch.
        static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
    }

    /// All tasks of this process run here from now on; the first thing that a program does, before any task of its own.
    ///
    /// Swift 6.3 has the place for it, and does not promise it: where another compiler has none, delete this call, and the
    /// process wakes up once a second.
    package static func install() { _createExecutors(factory: Factory.self) }
}
