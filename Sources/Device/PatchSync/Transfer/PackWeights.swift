import PatchDelta
import PatchFormat

/// The sizes of a bundle's assets in the order of its pack: plain, and estimated as transferred.
///
/// Three real applications keep 27 % of their bytes when compressed. Films, pictures, fonts and archives are already compressed
/// and keep all of them.
struct PackWeights {
    let plain: FullPack
    /// The offset of each asset if every one has its estimated size, and the end of the last one.
    private let estimates: [Int]

    init(_ assets: some Collection<Asset>) {
        plain = FullPack(assets)
        var estimates = [0]
        estimates.reserveCapacity(assets.count + 1)
        var end = 0
        for asset in assets {
            end += Self.travelling(asset.fingerprint.size, of: asset.path)
            estimates.append(end)
        }
        self.estimates = estimates
    }

    var count: Int { estimates.count - 1 }
    var bytes: Int { plain.offsets.last ?? 0 }

    /// The estimated transferred bytes of these rows.
    func estimate(of rows: Range<Int>) -> Int { estimates[rows.upperBound] - estimates[rows.lowerBound] }

    /// The estimated transferred bytes of one row if it is requested alone.
    func estimate(of row: Int) -> Int { estimate(of: row..<row + 1) }

    /// Some rows, and the part of the pack that contains them.
    struct Run: Equatable {
        var rows: [Int]
        var bytes: Range<Int>
    }

    /// The parts of the plain pack that contain these rows.
    ///
    /// Parts are joined if the bytes between them cost less than a request.
    ///
    /// - Parameter rows: The rows in ascending order.
    func runs(of rows: [Int]) -> [Run] {
        var runs: [Run] = []
        for row in rows {
            let bytes = plain.bytes(of: row..<row + 1)
            if let last = runs.last, bytes.lowerBound - last.bytes.upperBound < WireSize.request {
                runs[runs.count - 1].rows.append(row)
                runs[runs.count - 1].bytes = last.bytes.lowerBound..<bytes.upperBound
            } else {
                runs.append(Run(rows: [row], bytes: bytes))
            }
        }
        return runs
    }

    /// The estimated transferred bytes of a file.
    static func travelling(_ size: Int, of path: AssetPath) -> Int {
        isCompressed(path) ? size : WireSize.estimate(ofDocument: size)
    }

    /// Whether files with this name are already compressed.
    static func isCompressed(_ path: AssetPath) -> Bool {
        guard let dot = path.text.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        return compressedEndings.contains(path.text[path.text.utf8.index(after: dot)...].lowercased())
    }

    private static let compressedEndings: Set<String> = [
        "3gp", "7z", "aac", "apk", "avif", "avi", "br", "bz2", "docx", "flac", "gif", "glb", "gz", "heic", "ico", "jar",
        "jpeg",
        "jpg", "jxl", "ktx2", "m4a", "m4s", "m4v", "mkv", "mov", "mp3", "mp4", "mpg", "oga", "ogg", "ogv", "opus",
        "pbf", "pdf",
        "pmtiles", "png", "pptx", "rar", "swf", "tgz", "webm", "webp", "woff", "woff2", "xlsx", "xz", "zip", "zst",
    ]
}
