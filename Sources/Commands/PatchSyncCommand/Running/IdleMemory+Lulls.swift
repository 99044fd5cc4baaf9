import Linux

extension IdleMemory {
    /// Gives memory back after the start of this process and after each lull begins, until its task is cancelled.
    ///
    /// - Parameter lulls: an element for the end of each sync.
    static func giveBack(after lulls: AsyncStream<Void>) async {
        guard (try? await Task.sleep(for: afterStart)) != nil else { return }
        giveBack()
        for await _ in lulls {
            // The deadlines of a sync's requests end within 60 s; they use memory and code once more.
            guard (try? await Task.sleep(for: .seconds(65))) != nil else { return }
            giveBack()
        }
    }
}
