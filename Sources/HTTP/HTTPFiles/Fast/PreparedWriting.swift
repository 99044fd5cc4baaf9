import HTTPCore
import NIOCore

/// Writes prepared answers to one client: their bytes in one write, then the file of the last one.
///
/// Most are written before ``start()`` returns. Only unfinished writes are watched, for a slow client and for a changed file.
final class PreparedWriting {
    /// The longest interval between two checks of an unfinished write.
    private static let watchInterval = TimeAmount.milliseconds(250)

    private let batch: [PreparedAnswer]
    private let front: ConnectionFront
    private let context: ChannelHandlerContext
    private let since: ContinuousClock.Instant?
    private var sending: FileSending?
    private var shrank = false
    private var isDone = false
    /// The number of unsent bytes at the last check, and its time.
    private var seen: (left: Int, at: NIODeadline)?
    private var watchTask: Scheduled<Void>?

    /// - Parameter batch: Not empty. Only the last answer may have a file or end the connection.
    init(_ batch: [PreparedAnswer], of front: ConnectionFront, in context: ChannelHandlerContext) {
        self.batch = batch
        self.front = front
        self.context = context
        since = front.server.accessLog == nil && front.server.meter == nil ? nil : .now
    }

    /// Starts the write.
    ///
    /// The front is notified when it is over, which may be before this returns.
    func start() {
        let second = HTTPDate.second
        for answer in batch.dropLast() { context.write(data(answer, second), promise: nil) }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { self.didWriteBytes($0) }
        context.writeAndFlush(data(batch[batch.count - 1], second), promise: promise)
        if !isDone { watch() }
    }

    private func data(_ answer: PreparedAnswer, _ second: Int) -> NIOAny {
        NIOAny(IOData.byteBuffer(answer.bytes(at: second)))
    }

    private func didWriteBytes(_ result: Result<Void, any Error>) {
        guard case .success = result else { return end(isWhole: false, bodies: 0) }
        guard let part = batch[batch.count - 1].part else { return end(isWhole: true, bodies: batch.count) }
        let sending = FileSending(part, in: context) { self.didSend($0) }
        self.sending = sending
        sending.sendSlice()
    }

    private func didSend(_ result: Result<Void, any Error>) {
        switch result {
        case .success: end(isWhole: true, bodies: batch.count)
        case .failure(let error):
            if shrank || (error as? FileSending.Failure) == .shrank {
                let answer = batch[batch.count - 1]
                front.server.exchange.report(
                    brokenAfter: sending?.sentBytes ?? 0,
                    of: answer.head.target,
                    "\(OpenFileError.shrank)"
                )
            }
            end(isWhole: false, bodies: batch.count)
        }
    }

    /// - Parameter bodies: The number of answers that were sent, apart from the rest of the last one's file.
    private func end(isWhole: Bool, bodies: Int) {
        isDone = true
        watchTask?.cancel()
        if let since { record(bodies: bodies, since.duration(to: .now)) }
        sending = nil
        front.didWrite(keepsConnection: isWhole && batch[batch.count - 1].keepsConnection)
    }

    private func record(bodies: Int, _ duration: Duration) {
        let (log, meter) = (front.server.accessLog, front.server.meter)
        for (index, answer) in batch.enumerated() {
            let fromFile = answer.part == nil ? 0 : sending?.sentBytes ?? 0
            let bytes = index < bodies ? answer.bodyBytes + fromFile : 0
            meter?.answered(answer.head.target, status: answer.status, bodyBytes: bytes, in: duration)
            log?(front.entry(answer, bodyBytes: bytes, duration))
        }
    }

    // MARK: - Watching

    private func watch() {
        seen = (left, .now())
        let interval = min(TimeAmount(front.pace.left), Self.watchInterval)
        watchTask = context.eventLoop.assumeIsolated().scheduleTask(in: interval) { self.look() }
    }

    private func look() {
        guard !isDone else { return }
        shrank = sending?.isFileLongEnough == false
        let isTooSlow = isTooSlow(left: left, now: .now())
        if isTooSlow { front.server.losses.add(.slow, of: front.group, on: context.eventLoop) }
        if shrank || isTooSlow {
            // This fails the pending write, and so all that follows.
            context.close(promise: nil)
        } else {
            watch()
        }
    }

    private func isTooSlow(left: Int, now: NIODeadline) -> Bool {
        guard let seen else { return false }
        front.pace.moved(seen.left - left, in: .nanoseconds((now - seen.at).nanoseconds))
        return front.pace.isSpent
    }

    /// Bytes that the kernel has not accepted yet.
    private var left: Int {
        let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        return buffered + (sending?.waitingBytes ?? batch[batch.count - 1].part?.range.count ?? 0)
    }
}
