import PatchFormat

extension SourceMap {
    private static let mark = "//# sourceMappingURL=data:application/json;base64,"
    private static let markWithCharset = "//# sourceMappingURL=data:application/json;charset=utf-8;base64,"

    /// Reads the map in the last non-empty line of a script.
    init?(ofScript text: String) {
        var end = text.utf8[...]
        while let last = end.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") || last == UInt8(ascii: " ")
        {
            end.removeLast()
        }
        // Base64 needs four bytes for three.
        let line = end.suffix(Self.largest / 3 * 4 + 100).split(separator: UInt8(ascii: "\n")).last ?? end
        for mark in [Self.mark, Self.markWithCharset] where line.starts(with: mark.utf8) {
            guard let document = Base64.bytes(String(decoding: line.dropFirst(mark.utf8.count), as: UTF8.self)) else {
                return nil
            }
            self.init(document)
            return
        }
        return nil
    }
}
