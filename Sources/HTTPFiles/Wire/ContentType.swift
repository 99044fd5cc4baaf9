/// The media type of a file, from the extension of its name.
///
/// The table answers without `charset`: the bytes say it (HTML `meta`, `@charset`, XML declaration), and a signed
/// asset must not be read differently because a server guessed. Names are IANA's; `text/javascript` is RFC 9239.
package enum ContentType {
    /// The type for bytes that nothing is known about (RFC 9110 §8.3).
    package static let unknown = "application/octet-stream"

    /// The media type for the last segment of `path`; ``unknown`` without an extension or with one not in the table.
    ///
    /// A leading dot starts a name, not an extension: `.js` is unknown. Case is ignored.
    package static func of(path: String) -> String {
        fileExtension(of: path).flatMap { byExtension[$0] } ?? unknown
    }

    /// The part after the last dot of the last segment, in lower case; nil without one.
    static func fileExtension(of path: String) -> String? {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        return name[name.index(after: dot)...].lowercased()
    }

    private static let byExtension: [String: String] = [
        // Text and code
        "css": "text/css",
        "csv": "text/csv",
        "htm": "text/html",
        "html": "text/html",
        "js": "text/javascript",
        "json": "application/json",
        "map": "application/json",
        "markdown": "text/markdown",
        "md": "text/markdown",
        "mjs": "text/javascript",
        "txt": "text/plain",
        "wasm": "application/wasm",
        "webmanifest": "application/manifest+json",
        "xhtml": "application/xhtml+xml",
        "xml": "application/xml",

        // Images
        "apng": "image/apng",
        "avif": "image/avif",
        "bmp": "image/bmp",
        "gif": "image/gif",
        "ico": "image/vnd.microsoft.icon",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg",
        "png": "image/png",
        "svg": "image/svg+xml",
        "tif": "image/tiff",
        "tiff": "image/tiff",
        "webp": "image/webp",

        // Fonts
        "otf": "font/otf",
        "ttf": "font/ttf",
        "woff": "font/woff",
        "woff2": "font/woff2",

        // Sound and video
        "aac": "audio/aac",
        "flac": "audio/flac",
        "m4a": "audio/mp4",
        "m4v": "video/mp4",
        "mov": "video/quicktime",
        "mp3": "audio/mpeg",
        "mp4": "video/mp4",
        "oga": "audio/ogg",
        "ogg": "audio/ogg",
        "ogv": "video/ogg",
        "wav": "audio/wav",
        "webm": "video/webm",

        // Documents and archives
        "gz": "application/gzip",
        "pdf": "application/pdf",
        "tar": "application/x-tar",
        "zip": "application/zip",
        "zst": "application/zstd",
    ]
}

/// How an operator wants files to be named: types of their own, and a charset for text.
package struct ContentTypeRules: Equatable, Sendable {
    /// By extension, in lower case; over the table.
    package var types: [String: String]
    /// Added to text, JavaScript and XML that name none; nil, the default, leaves that to the bytes.
    package var charset: String?

    package init(types: [String: String] = [:], charset: String? = nil) {
        self.types = types
        self.charset = charset
    }

    package func type(of path: String) -> String {
        let own = ContentType.fileExtension(of: path).flatMap { types[$0] }
        return withCharset(own ?? ContentType.of(path: path))
    }

    private func withCharset(_ type: String) -> String {
        guard let charset, !type.contains(";"),
            type.hasPrefix("text/") || type.hasSuffix("/xml") || type.hasSuffix("+xml") || type.hasSuffix("/javascript")
        else { return type }
        return "\(type); charset=\(charset)"
    }
}
