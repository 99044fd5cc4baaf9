import Linux

extension IdleMemory {
    /// Returns memory to the system after the start of this process and after each sync, until the task is cancelled.
    ///
    /// - Parameter lulls: Contains one element for the end of each sync.
    static func releaseMemory(after lulls: AsyncStream<Void>) async {
        guard (try? await Task.sleep(for: afterStart)) != nil else { return }
        releaseMemory()
        for await _ in lulls {
            // The timeouts of a sync's requests end within 60 s and use memory and code once more.
            guard (try? await Task.sleep(for: .seconds(65))) != nil else { return }
            releaseMemory()
        }
    }
}
