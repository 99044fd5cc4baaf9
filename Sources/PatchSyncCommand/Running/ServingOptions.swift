import ArgumentParser
import AssetServer
import HTTPFiles
import Patchline

/// Who is let in, and what every answer says.
struct ServingOptions: ParsableArguments {
    @Flag(name: .long, help: "Let every program on this machine in, without the access token.")
    var open = false

    @Option(
        name: .customLong("origin"),
        help: ArgumentHelp(
            "Another origin whose pages may ask and read (CORS); may stand several times.",
            valueName: "http://host:port"
        )
    )
    var origins: [String] = []

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "A field of every answer, over the default; 'Name:' drops it. May stand several times.",
            valueName: "name: value"
        )
    )
    var headers: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Name this charset for text; without it the files say it themselves.", valueName: "charset")
    )
    var charset: String?

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp("The type of files with this ending; may stand several times.", valueName: "ext=type")
    )
    var types: [String] = []

    enum DialectName: String, ExpressibleByArgument, CaseIterable { case rfc9110, gcdwebserver }

    @Option(
        help:
            "Whose rules answers follow: HTTP's, or for clients that were made for it GCDWebServer's, which keeps no connection open."
    )
    var dialect = DialectName.rfc9110

    func validate() throws {
        for origin in origins where !Self.isOrigin(origin) {
            throw ValidationError("--origin must be http:// or https://, a host and at most a port")
        }
        for header in headers where Self.field(header) == nil {
            throw ValidationError("--header must be 'Name: value'")
        }
        for type in types where Self.type(type) == nil { throw ValidationError("--type must be EXT=TYPE/SUBTYPE") }
        if let charset, !charset.utf8.allSatisfy(Self.isTokenCharacter) || charset.isEmpty {
            throw ValidationError("--charset must be a name, as utf-8")
        }
    }

    var settings: AssetServer.Settings {
        // LocalServer sets the name of the device's store.
        var access = Access(token: nil, under: .shared)
        access.origins = Set(origins)
        for (name, value) in headers.compactMap(Self.field) { access.setHeader(name, to: value.isEmpty ? nil : value) }
        var settings = AssetServer.Settings(access: access)
        let types = types.compactMap(Self.type)
        settings.types = ContentTypeRules(types: Dictionary(types) { $1 }, charset: charset)
        return settings
    }

    var answering: Dialect {
        switch dialect {
        case .rfc9110: .rfc9110
        case .gcdwebserver: .gcdWebServer(name: "GCDWebServer")
        }
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else { return false }
        let host = text.dropFirst(scheme.count)
        return !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\\,".utf8.contains($0) }
    }

    private static func field(_ text: String) -> (name: String, value: String)? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(isTokenCharacter) else { return nil }
        let value = parts[1].drop { $0 == " " }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        return (String(parts[0]), String(value))
    }

    private static func type(_ text: String) -> (String, String)? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[1].contains("/"), parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            return nil
        }
        return (parts[0].lowercased(), String(parts[1]))
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
