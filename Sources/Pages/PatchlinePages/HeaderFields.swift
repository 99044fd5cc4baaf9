import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

extension HTTPHeaders {
    init(_ fields: HTTPFields) {
        self.init(fields.map { ($0.name.rawName, $0.value) })
    }
}

extension HTTPFields {
    init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            guard let name = HTTPField.Name(name) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}

extension ResponseBody {
    consuming func bytes() async throws -> [UInt8] {
        let collected = Collected()
        try await write(collected)
        return collected.bytes
    }
}

/// A body in memory.
///
/// One task writes it, and it is read afterwards.
private final class Collected: ResponseBodyWriter {
    private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws {
        bytes += buffer.readableBytesView
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
