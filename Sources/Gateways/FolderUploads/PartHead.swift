/// The head of a part of a form.
struct PartHead: Equatable, Sendable {
    /// The name of the field.
    let name: String
    /// The client's name of the file, or nil for a part that is not a file.
    let file: String?

    /// - Parameter lines: The fields of the part, separated by CRLF.
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
        // Browsers write %22 for a quote, and escape nothing else except line ends, which a name must not have (HTML, "multipart
        // form data").
        file = parameters["filename"]?.replacing("%22", with: "\"")
    }
}
