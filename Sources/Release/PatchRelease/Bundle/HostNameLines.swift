import PatchFormat
import PatchStore
import SystemPackage

/// The lines of a bundle's files that compare the host's name with `localhost`.
enum HostNameLines {
    private static let shown = 5

    /// Returns nil if there are no comparisons.
    static func note(
        _ files: [(path: AssetPath, file: FilePath, offsets: [Int])],
        _ disk: any FileOperations
    ) throws(SigningError) -> BundleNote? {
        var (lines, count): ([BundleNote.FileLine], Int) = ([], 0)
        for (path, file, offsets) in files {
            count += offsets.count
            guard lines.count < shown else { continue }
            let offsets = Array(offsets.prefix(shown - lines.count))
            lines += try places(of: offsets, in: file, disk).map { .init(path: path, line: $0.line, column: $0.column) }
        }
        // A comparison with both names counts as one line.
        var seen: Set<String> = []
        let distinct = lines.filter { seen.insert("\($0.path):\($0.line):\($0.column / 200)").inserted }
        return distinct.isEmpty ? nil : .hostNames(distinct, more: count - lines.count)
    }

    /// The line and column of each offset from the file's start, in bytes.
    private static func places(
        of offsets: [Int],
        in file: FilePath,
        _ disk: any FileOperations
    ) throws(SigningError) -> [(line: Int, column: Int)] {
        var (found, line, lineStart, start): ([(line: Int, column: Int)], Int, Int, Int) = ([], 1, 0, 0)
        do throws(FileError) {
            let reader = try disk.open(file, limit: Limits.object)
            while found.count < offsets.count, let piece = try reader.next() {
                for (place, byte) in piece.enumerated() {
                    while found.count < offsets.count, offsets[found.count] == start + place {
                        found.append((line, start + place - lineStart + 1))
                    }
                    if byte == UInt8(ascii: "\n") { (line, lineStart) = (line + 1, start + place + 1) }
                }
                start += piece.count
            }
        } catch { throw .file(error) }
        return found
    }
}
