import PatchFormat
package import PatchStore
import SystemPackage

/// A program that serves the pages of a store now, as other programs find it.
package struct RunningServer: Equatable, Sendable {
    /// The largest file of one server, in bytes.
    private static let limit = 1_024

    package let process: Int
    package let port: Int
    /// The kind of host name that pages are served under.
    ///
    /// An own name is a secret and is not written here.
    package let host: PagesHost

    package init(process: Int, port: Int, host: PagesHost) {
        self.process = process
        self.port = port
        self.host = host
    }

    init(_ fields: Fields) throws(FormatError) {
        process = try fields.integer("process", in: 0...Int(Int32.max))
        port = try fields.integer("port", in: 0...65_535)
        let hasOwnHost = try fields.bool("ownHost")
        host = hasOwnHost ? .own : try fields.optionalString("host") == "localhost" ? .localhost : .address
    }

    fileprivate var json: JSON {
        .fields([
            ("process", .integer(process)), ("port", .integer(port)), ("ownHost", .bool(host == .own)),
            ("host", host == .localhost ? .text(host.rawValue) : nil),
        ])
    }

    fileprivate static func all(in folder: FilePath) throws(FileError) -> [RunningServer] {
        try LiveFile.contents(of: folder, limit: limit).compactMap { bytes in
            guard let json = try? JSON.document(bytes, named: folder.string, limit: limit),
                let fields = try? Fields(json, of: folder.string)
            else { return nil }
            return try? RunningServer(fields)
        }
    }
}

extension DeviceStore {
    private var servers: FilePath { root.at("servers") }

    /// Announces to other programs that this one serves the store, for as long as the returned value exists.
    ///
    /// - Returns: nil if the disk is not writable. Other programs then cannot find this one.
    package func announcing(_ server: RunningServer) -> LiveFile? {
        guard isShared else { return nil }
        return try? LiveFile(holding: server.json.fileBytes, in: servers)
    }

    /// The programs that serve this store now, as far as their files are readable.
    package var runningServers: [RunningServer] {
        guard isShared else { return [] }
        return (try? RunningServer.all(in: servers)) ?? []
    }
}
