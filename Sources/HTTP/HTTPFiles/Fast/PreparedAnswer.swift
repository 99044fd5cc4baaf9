import NIOCore
import NIOHTTP1

/// One response that is ready to go but for its date: the head, the body when it is small, the file when it is not.
///
/// Belongs to one event loop; a class, because its date is moved on where it lies.
final class PreparedAnswer {
    /// What is sent of a file after ``bytes(at:)``.
    struct Part {
        let file: OpenFile
        let range: Range<Int>
    }

    let head: RequestHead
    let status: Int
    /// Whether the connection stays open after it.
    let keepsConnection: Bool
    /// Bytes of the body in memory.
    let bodyBytes: Int
    let part: Part?
    /// Whether the same head gets the same answer for as long as ``origin`` stays what it is.
    let isLasting: Bool
    /// Whether only somebody with a right gets it: see ``ShownRight``.
    var showsRight = false
    private let origin: FileOrigin?
    /// See ``ServedFile/reason``.
    private let reason: FileOrigin?

    private var bytes: ByteBuffer
    private var second: Int
    private let dateIndex: Int?

    /// - Parameters:
    ///   - body: in memory; what `part` names follows it.
    ///   - second: of the date, since 1970.
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
        // Without the place of its date it is as good once, and never again.
        self.isLasting = isLasting && dateIndex != nil
        bodyBytes = body?.readableBytes ?? 0
        if var body { bytes.writeBuffer(&body) }
    }

    /// Whether the file is the one that the answer was made of, and answers still.
    var isCurrent: Bool { (origin?.isCurrent ?? true) && (reason?.isCurrent ?? true) }

    /// What is held in memory for it, in bytes; an open file counts as ``openFileCost`` more.
    var cost: Int { bytes.capacity + head.headers.count * Self.fieldCost + (part == nil ? 0 : Self.openFileCost) }

    /// Two strings and their place in an array that grows by doubling.
    private static let fieldCost = 128

    private static let openFileCost = 128 * 1024

    /// The head with its date, and the body if it is in memory.
    func bytes(at second: Int) -> ByteBuffer {
        if second != self.second, let dateIndex {
            self.second = second
            bytes.setString(HTTPDate.text(at: second), at: dateIndex)
        }
        return bytes
    }

    /// Where the value of `Date` begins; line by line, for `firstRange(of:)` takes a third of a small answer's time.
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
