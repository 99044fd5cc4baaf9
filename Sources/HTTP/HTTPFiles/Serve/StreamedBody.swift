import NIOConcurrencyHelpers
import NIOCore

/// A body that is read piece by piece.
///
/// The size of its unread rest is shared with the task that answers meanwhile.
struct StreamedBody: Sendable {
    /// Unread bytes of the body, or nil if unknown or while the client waits for its `100 Continue`.
    typealias Rest = NIOLockedValueBox<Int?>

    private(set) var decoder: RequestBody
    /// Whether the client still waits for its `100 Continue`.
    var expectsContinue: Bool { didSet { update() } }
    let rest = Rest(nil)
    /// The pace at which the client sends.
    var pace: Pace

    init(_ decoder: RequestBody, expectsContinue: Bool, pace: Pace) {
        self.decoder = decoder
        self.pace = pace
        self.expectsContinue = expectsContinue && !decoder.isComplete
        update()
    }

    mutating func next(from buffer: inout ByteBuffer) throws(RequestFault) -> ByteBuffer? {
        defer { update() }
        return try decoder.next(from: &buffer)
    }

    private func update() {
        let left = expectsContinue ? nil : decoder.remaining
        rest.withLockedValue { $0 = left }
    }
}

extension NIOLockedValueBox where Value == Int? {
    var value: Int? { withLockedValue(\.self) }
}
