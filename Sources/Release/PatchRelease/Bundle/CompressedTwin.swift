import PatchCompression
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// A compressed file such as `app.js.gz` next to `app.js`, which a server sends instead of the plain file.
struct CompressedTwin: Sendable {
    enum Coding: String, Sendable, CaseIterable {
        case gzip = ".gz"
        case brotli = ".br"
        case zstandard = ".zst"

        var name: String {
            switch self {
            case .gzip: "gzip"
            case .brotli: "brotli"
            case .zstandard: "zstd"
            }
        }
    }

    /// The result of decompressing the file.
    enum Judgement: Equatable, Sendable {
        /// The content equals the plain file's.
        case same
        /// The content differs from the plain file's.
        case stale
        /// The file is not valid for its coding.
        case damaged
    }

    /// The path of the compressed file.
    let path: AssetPath
    let file: FilePath
    let coding: Coding

    /// Returns nil if the file's name has no extension of a coding.
    init?(_ path: AssetPath, _ file: FilePath) {
        guard let coding = Coding.allCases.first(where: { path.text.hasSuffix($0.rawValue) }),
            path.text.utf8.count > coding.rawValue.utf8.count
        else { return nil }
        (self.path, self.file, self.coding) = (path, file, coding)
    }

    /// The path of the plain file.
    var plain: AssetPath? { try? AssetPath(String(path.text.dropLast(coding.rawValue.count))) }

    /// Compares the content with a plain file's.
    ///
    /// Stops once the output is larger than the plain file.
    ///
    /// - Parameter plain: The plain file's fingerprint; nil if there is none. Then only the coding is checked.
    func judgement(plain: Fingerprint?, of disk: any FileOperations) throws(SigningError) -> Judgement {
        // A file without a plain one is often large, and its beginning shows whether it is valid.
        let limit = plain?.size ?? 1 << 20
        let output = Output(limit: limit)
        var isDamaged = false
        let reader: any FileReader
        do throws(FileError) { reader = try disk.open(file, limit: Limits.object) } catch { throw .file(error) }
        func next() throws(SigningError) -> [UInt8]? {
            do throws(FileError) { return try reader.next() } catch { throw .file(error) }
        }
        switch coding {
        case .brotli:
            var stream = BrotliStream()
            while !isDamaged, !output.isFull, let bytes = try next() {
                do throws(BrotliStream.Problem) { _ = try stream.take(bytes) { output.take($0) } } catch {
                    isDamaged = true
                }
            }
            if !output.isFull { isDamaged = isDamaged || !stream.hasEnded }
        case .gzip, .zstandard:
            var stream: Decompressor
            do throws(CompressionError) {
                stream = try Decompressor(coding == .gzip ? .gzip : .zstandard, limit: limit + 1)
            } catch { return .damaged }
            while !isDamaged, !output.isFull, let bytes = try next() {
                stream.feed(bytes)
                do throws(CompressionError) {
                    while !output.isFull, let piece = try stream.next() { _ = output.take(piece) }
                } catch { isDamaged = !output.isFull && !error.isTooLong }
            }
            if !output.isFull { isDamaged = isDamaged || !stream.isComplete }
        }
        guard !isDamaged else { return .damaged }
        guard let plain else { return .same }
        return output.sha256 == plain.sha256 ? .same : .stale
    }

    /// Computes the digest of the output until the limit is exceeded.
    private final class Output {
        private let limit: Int
        private var digester: Digester? = Digester()
        private var count = 0

        init(limit: Int) { self.limit = limit }

        var isFull: Bool { count > limit }

        func take(_ bytes: [UInt8]) -> Bool {
            count += bytes.count
            guard !isFull else { return false }
            digester?.update(bytes)
            return true
        }

        /// Nil if the output exceeded the limit.
        var sha256: SHA256Digest? {
            guard !isFull, let digester = digester.take() else { return nil }
            return digester.finish().sha256
        }
    }
}

extension CompressionError {
    fileprivate var isTooLong: Bool { if case .tooLong = self { true } else { false } }
}
