/// What a part of a form says of itself.
struct PartHead: Equatable, Sendable {
    /// Of the field.
    let name: String
    /// As the client calls it; nil for a part that is no file.
    let file: String?

    /// - Parameter lines: the fields of the part, with CRLF between them.
    init(_ lines: ArraySlice<UInt8>) throws(MultipartFault) {
        guard let text = String(validating: lines, as: UTF8.self) else { throw .notUTF8 }
        let dispositions = text.split(separator: "\r\n").compactMap { line -> Substring? in
            guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == "content-disposition" else {
                return nil
            }
            return line[line.index(after: colon)...]
        }
        guard let only = dispositions.first, dispositions.count == 1 else { throw .badHead }
        let sides = only.split(separator: ";", maxSplits: 1)
        guard sides.count == 2, sides[0].drop(while: { $0 == " " }).lowercased() == "form-data",
            let parameters = HeaderParameters(sides[1]), let name = parameters["name"]
        else { throw .badHead }
        self.name = name
        // Browsers write %22 for a quote, and escape nothing else but line ends, which no name may have (HTML, "multipart form data").
        file = parameters["filename"]?.replacing("%22", with: "\"")
    }
}
