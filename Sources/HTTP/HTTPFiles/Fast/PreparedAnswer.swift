import HTTPCore
import NIOCore
import NIOHTTP1

/// One response that is ready to be sent except for its date: the head, and the body if it is small or the file if it is large.
///
/// It belongs to one event loop. It is a class because its date is updated in place.
final class PreparedAnswer {
    /// The part of a file that is sent after ``bytes(at:)``.
    struct Part {
        let file: OpenFile
        let range: Range<Int>
    }

    let head: RequestHead
    let status: Int
    /// Whether the connection remains open after the answer.
    let keepsConnection: Bool
    /// The size of the body in memory.
    let bodyBytes: Int
    let part: Part?
    /// Whether the same head has the same answer while ``origin`` is unchanged.
    let isLasting: Bool
    /// Whether only a client with a right receives it: see ``ClientAuthorization``.
    var showsRight = false
    private let origin: FileOrigin?
    /// See ``ServedFile/reason``.
    private let reason: FileOrigin?

    private var bytes: ByteBuffer
    private var second: Int
    private let dateIndex: Int?

    /// - Parameters:
    ///   - body: The body in memory. The bytes of `part` follow it.
    ///   - second: The second of the date, since 1970.
    init(
        to head: RequestHead,
        _ response: Response,
        body: ByteBuffer?,
        part: Part?,
        origin: FileOrigin?,
        reason: FileOrigin? = nil,
        isLasting: Bool,
        second: Int
    ) {
        self.head = head
        self.part = part
        self.origin = origin
        self.reason = reason
        self.second = second
        status = Int(response.status.code)
        keepsConnection = head.wantsKeepAlive
        bytes = response.head(keepAlive: keepsConnection, date: HTTPDate.text(at: second))
        dateIndex = Self.dateIndex(in: bytes)
        // Without the position of its date, the answer can be used only once.
        self.isLasting = isLasting && dateIndex != nil
        bodyBytes = body?.readableBytes ?? 0
        if var body { bytes.writeBuffer(&body) }
    }

    /// Whether the files that the answer was made from are unchanged.
    var isCurrent: Bool { (origin?.isCurrent ?? true) && (reason?.isCurrent ?? true) }

    /// The memory used by the answer in bytes.
    ///
    /// An open file adds ``openFileCost``.
    var cost: Int { bytes.capacity + head.headers.count * Self.fieldCost + (part == nil ? 0 : Self.openFileCost) }

    /// Two strings and their element in an array that grows by doubling.
    private static let fieldCost = 128

    private static let openFileCost = 128 * 1024

    /// Returns the head with its date, and the body if it is in memory.
    func bytes(at second: Int) -> ByteBuffer {
        if second != self.second, let dateIndex {
            self.second = second
            bytes.setString(HTTPDate.text(at: second), at: dateIndex)
        }
        return bytes
    }

    /// The position of the value of `Date`.
    ///
    /// Searched line by line, because `firstRange(of:)` takes a third of a small answer's time.
    private static func dateIndex(in head: ByteBuffer) -> Int? {
        let name = Array("Date: ".utf8)
        let bytes = Array(head.readableBytesView)
        var line = 0
        while let end = bytes[line...].firstIndex(of: UInt8(ascii: "\n")) {
            line = end + 1
            if bytes[line...].starts(with: name) { return head.readerIndex + line + name.count }
        }
        return nil
    }
}
