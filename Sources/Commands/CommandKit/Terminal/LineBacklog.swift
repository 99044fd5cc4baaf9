/// The lines that a stream has not accepted yet, and the count of those that were dropped.
///
/// ```
/// empty ──a line──▶ waiting ──written──▶ empty
///                      │                   ▲
///                      │ the stream        │ a notice with the count is written
///                      ▼ failed, or no room│
///                    losing ───────────────┘
/// ```
struct LineBacklog: Equatable, Sendable {
    /// Bytes to write next.
    ///
    /// The first line may have been written in part; its rest is kept, so that no line is torn.
    private(set) var waiting: [UInt8] = []
    /// Lines that were dropped since the last notice.
    private(set) var lost = 0
    private var isBegun = false
    private let room: Int

    /// - Parameter room: The most bytes that wait for a slow reader.
    init(room: Int) {
        self.room = room
    }

    var isEmpty: Bool { waiting.isEmpty && lost == 0 }

    /// Whether the notice is next: everything before the lost lines is written.
    var isNoticeDue: Bool { waiting.isEmpty && lost > 0 }

    /// Appends whole lines, or drops them, so that no line overtakes the notice about earlier ones.
    mutating func add(_ lines: [UInt8]) {
        guard lost == 0, waiting.isEmpty || waiting.count + lines.count <= room else { return lose(lines[...]) }
        waiting += lines
    }

    /// Notes that the stream accepted the first `count` waiting bytes.
    mutating func wrote(_ count: Int) {
        guard count > 0 else { return }
        isBegun = waiting[count - 1] != Self.end
        waiting.removeFirst(count)
    }

    /// Notes that the stream accepted the first `count` bytes of a notice.
    mutating func wrote(_ count: Int, ofNotice notice: [UInt8]) {
        guard count > 0 else { return }
        lost = 0
        waiting = Array(notice[count...])
        isBegun = !waiting.isEmpty
    }

    /// Notes that the stream failed.
    ///
    /// Lines that were not begun are lost.
    mutating func failed() {
        let rest = isBegun ? (waiting.firstIndex(of: Self.end).map { $0 + 1 } ?? waiting.count) : 0
        lose(waiting[rest...])
        waiting.removeLast(waiting.count - rest)
    }

    private mutating func lose(_ lines: ArraySlice<UInt8>) {
        guard let last = lines.last else { return }
        lost += lines.count { $0 == Self.end } + (last == Self.end ? 0 : 1)
    }

    private static let end = UInt8(ascii: "\n")
}
