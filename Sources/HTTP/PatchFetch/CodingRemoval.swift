import PatchCompression
import PatchFormat
import PatchCrypto

/// Decodes a body with announced codings that were not requested.
///
/// Such an announcement may be false: a bucket may announce `gzip` for a file that was uploaded uncompressed. The signed digest
/// decides for a small file, the announced length for a larger one. Without either, a coding is decoded if the bytes begin with its
/// signature.
struct CodingRemoval {
    /// The most bytes that are collected before the decision.
    static let collected = 65_536

    private let request: FetchRequest
    private let length: Int?
    /// The bytes before the decision; nil after it.
    private var start: [UInt8]? = []
    /// The decoders, from the coding that was applied last to the file.
    private var layers: [Layer]
    private var hasEnded = false

    /// - Parameter length: The announced length.
    init(_ forms: [CompressionFormat], of request: FetchRequest, length: Int?) {
        (self.request, self.length) = (request, length)
        layers = forms.reversed().enumerated().map { index, form in
            Layer(form, limit: index == forms.count - 1 ? request.limit : Self.limit(of: request))
        }
    }

    /// The most transferred bytes.
    ///
    /// The coded form of a small file is larger than the file.
    static func limit(of request: FetchRequest) -> Int {
        let (sum, isTooLarge) = request.limit.addingReportingOverflow(request.limit / 64 + collected)
        return isTooLarge ? .max : sum
    }

    /// Takes the next transferred bytes.
    ///
    /// Call ``next()`` until it returns nil before the next ones.
    mutating func feed(_ bytes: [UInt8]) {
        guard let before = start else { return layers[0].feed(bytes) }
        start = before + bytes
        guard before.count + bytes.count > Self.collected else { return }
        decide { [length] expected in (length ?? expected.size) == expected.size }
    }

    /// Notes the end of the body.
    ///
    /// Call ``next()`` until it returns nil, then ``check()``.
    mutating func end() {
        let start = start ?? []
        decide { expected in SHA256Digest(of: start) == expected.sha256 }
        hasEnded = true
    }

    private mutating func decide(_ isAsIs: (ExpectedFile) -> Bool) {
        guard let bytes = start else { return }
        start = nil
        if let expected = request.expected, isAsIs(expected) { layers = [Layer(nil, limit: request.limit)] }
        layers[0].feed(bytes)
    }

    /// Returns the next bytes of the file.
    mutating func next() throws(FetchError) -> [UInt8]? {
        if start != nil { return nil }
        do throws(CompressionError) { return try next(of: layers.count - 1) } catch {
            throw .badForm(request.path, error)
        }
    }

    private mutating func next(of layer: Int) throws(CompressionError) -> [UInt8]? {
        while true {
            if let piece = try layers[layer].next() { return piece }
            guard layer > 0, let more = try next(of: layer - 1) else { return hasEnded ? layers[layer].end() : nil }
            layers[layer].feed(more)
        }
    }

    /// - Throws: `badForm` if a coded form ended early.
    func check() throws(FetchError) {
        do throws(CompressionError) { for layer in layers { try layer.finish() } } catch {
            throw .badForm(request.path, error)
        }
    }

    /// One coding, which is decoded if the bytes begin with its signature.
    private final class Layer {
        private let form: CompressionFormat?
        private let limit: Int
        /// Bytes that were not returned yet.
        ///
        /// Of a coded form, only those before its decoder is opened.
        private var held: [UInt8] = []
        private var decoder: BodyDecoder?
        private var isDecided = false

        init(_ form: CompressionFormat?, limit: Int) {
            (self.form, self.limit) = (form, limit)
        }

        func feed(_ bytes: [UInt8]) {
            if decoder == nil { held += bytes } else { decoder?.feed(bytes) }
        }

        func next() throws(CompressionError) -> [UInt8]? {
            if !isDecided {
                let signature = form?.signature ?? []
                guard held.count >= signature.count else { return nil }
                isDecided = true
                if form != nil, held.starts(with: signature) {
                    decoder = try BodyDecoder(form, limit: limit)
                    decoder?.feed(held)
                    held = []
                }
            }
            if decoder != nil { return try decoder?.next() }
            defer { held = [] }
            return held.isEmpty ? nil : held
        }

        /// - Returns: The bytes of a body that is too short for any form.
        func end() -> [UInt8]? {
            isDecided = true
            guard decoder == nil, !held.isEmpty else { return nil }
            defer { held = [] }
            return held
        }

        func finish() throws(CompressionError) { try decoder?.finish() }
    }
}

extension CompressionFormat {
    /// The first bytes of every stream in this format.
    fileprivate var signature: [UInt8] {
        switch self {
        case .gzip: [0x1F, 0x8B]
        case .zstandard: [0x28, 0xB5, 0x2F, 0xFD]
        }
    }
}
