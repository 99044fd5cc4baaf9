import PatchFormat

/// The part of a manifest that a pack contains as text: its header, and each row without size and digests.
struct PackNames: Sendable {
    /// All members except `assets`.
    let header: JSONObject
    let rows: [RowName]

    /// The head text.
    ///
    /// It begins the head of a pack of this manifest, and is the prefix of the head of a pack from it.
    var text: [UInt8] {
        let header = JSON.object(header).fileBytes
        var text: [UInt8] = []
        text.append(number: header.count)
        text += header
        text.append(number: rows.count)
        for row in rows {
            text += row.path.text.utf8
            if !row.others.isEmpty {
                text.append(UInt8(ascii: "\t"))
                text += row.others
            }
            text.append(UInt8(ascii: "\n"))
        }
        return text
    }

    /// Reads a head text and leaves the bytes after it in `input`.
    init(_ input: inout HeadInput) throws(PackError) {
        let length = try input.number()
        let bytes = Array(try input.bytes(length, .header))
        do throws(FormatError) {
            header = try Fields(JSON.document(bytes, named: "header", limit: Limits.manifest), of: "header").object
        } catch { throw .malformed(error) }
        guard header["assets"] == nil else { throw .head(.header) }
        let count = try input.number(upTo: Limits.assetsInBundle, .rowCount)
        var rows: [RowName] = []
        for _ in 0..<count {
            let row = try RowName(line: try input.line())
            if let last = rows.last, !(last.path < row.path) { throw .head(.rowOrder) }
            rows.append(row)
        }
        self.rows = rows
    }

    init(header: JSONObject, rows: [RowName]) {
        self.header = header
        self.rows = rows
    }

    /// The manifest in file form, with these fingerprints by row.
    func manifest(_ fingerprints: [Fingerprint]) -> [UInt8] {
        let paths = Set(rows.map(\.path))
        let (before, after) = (part { $0 < "assets" }, part { "assets" < $0 })
        var bytes = Array("{".utf8) + before
        if !before.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes += "\"assets\":[".utf8
        for (index, (row, fingerprint)) in zip(rows, fingerprints).enumerated() {
            // A longer result is not a manifest, so its digest cannot be the signed one.
            guard bytes.count <= Limits.manifest else { break }
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += row.json(fingerprint, among: paths).fileBytes
        }
        bytes.append(UInt8(ascii: "]"))
        if !after.isEmpty { bytes.append(UInt8(ascii: ",")) }
        return bytes + after + "}".utf8
    }

    /// Some members of the header, without the braces around them.
    private func part(_ isInPart: (ExactString) -> Bool) -> ArraySlice<UInt8> {
        let members = header.members.filter { isInPart($0.key) }.map { ($0.key.text, $0.value) }
        return JSON.object(JSONObject(members)).fileBytes.dropFirst().dropLast()
    }
}

/// The path of a row, and the members that cannot be derived from it.
struct RowName: Sendable {
    /// Members that both sides compute.
    private static let known: Set<ExactString> = ["path", "size", "md5", "sha1", "sha256"]

    let path: AssetPath
    /// An object in file form, or empty.
    ///
    /// A parsed object would use many times its bytes in memory.
    ///
    /// Null marks a member that would be derived from the path but that the row does not have.
    let others: [UInt8]

    /// - Parameters:
    ///   - members: the result of ``others(of:_:)``.
    ///   - paths: the paths of all rows.
    init(path: AssetPath, others members: JSONObject, among paths: Set<AssetPath>) {
        self.path = path
        var members = members
        if let map = Self.map(of: path, among: paths) {
            let named = members["sourceMap"]
            members["sourceMap"] = named == .text(map.text) ? nil : named ?? .null
        }
        others = members.members.isEmpty ? [] : JSON.object(members).fileBytes
    }

    /// The members of a row that cannot be derived from its path alone.
    static func others(of path: AssetPath, _ members: JSONObject) -> JSONObject {
        var others: [(String, JSON)] = []
        let usual = usual(path, map: nil)
        for member in members.members where !known.contains(member.key) {
            if usual[member.key.text] != member.value { others.append((member.key.text, member.value)) }
        }
        for member in usual.members where members[member.key.text] == nil {
            others.append((member.key.text, .null))
        }
        return JSONObject(others)
    }

    init(line: ArraySlice<UInt8>) throws(PackError) {
        let name = line.prefix { $0 != UInt8(ascii: "\t") }
        guard let text = String(validating: name, as: UTF8.self), let path = try? AssetPath(text) else {
            throw .head(.rowLine)
        }
        self.path = path
        others = Array(line[name.endIndex...].dropFirst())
        guard name.count < line.count else { return }
        let members = Self.members(others)
        guard let members, !members.members.contains(where: { Self.known.contains($0.key) }) else {
            throw .head(.rowLine)
        }
    }

    func json(_ fingerprint: Fingerprint, among paths: Set<AssetPath>) -> JSON {
        var members = Self.usual(path, map: Self.map(of: path, among: paths))
        for other in Self.members(others)?.members ?? [] {
            members[other.key.text] = other.value == .null ? nil : other.value
        }
        members["path"] = .text(path.text)
        for case (let key, let value?) in fingerprint.members { members[key] = value }
        return .object(members)
    }

    private static func members(_ others: [UInt8]) -> JSONObject? {
        others.isEmpty ? nil : (try? JSON(parsing: others))?.object
    }

    private static func map(of path: AssetPath, among paths: Set<AssetPath>) -> AssetPath? {
        (try? AssetPath(path.text + ".map")).flatMap { paths.contains($0) ? $0 : nil }
    }

    /// The members that `patchsign` writes for a path by default.
    private static func usual(_ path: AssetPath, map: AssetPath?) -> JSONObject {
        var members: [(String, JSON)] = [
            ("cacheable", .bool(false)), ("type", .text(AssetType(path: path).rawValue)),
            ("url", .text(URLLayout.asset(path))),
        ]
        if let map { members.append(("sourceMap", .text(map.text))) }
        return JSONObject(members)
    }
}
