import CBrotli

/// Decompresses one brotli stream while its bytes arrive (RFC 7932).
///
/// Memory is bounded by the format's largest window, 16 MiB.
@safe
struct BrotliStream: ~Copyable {
    enum Problem: Error {
        case damaged, incomplete, followedByBytes
    }

    private let state: OpaquePointer
    private(set) var hasEnded = false

    init() {
        guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
            preconditionFailure("brotli has no memory")
        }
        unsafe self.state = state
    }

    deinit {
        unsafe BrotliDecoderDestroyInstance(state)
    }

    /// Decompresses the next bytes and passes the output to `body` until it returns false.
    ///
    /// - Returns: false if `body` returned false.
    mutating func take(_ bytes: [UInt8], _ body: ([UInt8]) -> Bool) throws(Problem) -> Bool {
        guard !hasEnded else { throw .followedByBytes }
        var (left, place) = (bytes.count, 0)
        while true {
            var output = [UInt8](repeating: 0, count: 65_536)
            var room = output.count
            let before = left
            let result = unsafe bytes.withUnsafeBufferPointer { input in
                var next = unsafe input.baseAddress.map { unsafe $0 + place }
                return unsafe output.withUnsafeMutableBufferPointer { output in
                    var free = output.baseAddress
                    return unsafe BrotliDecoderDecompressStream(state, &left, &next, &room, &free, nil)
                }
            }
            place += before - left
            if room < output.count, !body(Array(output.prefix(output.count - room))) { return false }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                hasEnded = true
                guard left == 0 else { throw .followedByBytes }
                return true
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return true
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            default: throw .damaged
            }
        }
    }
}
