/// The media type of a file, from the extension of its name.
///
/// The table has types without `charset`. The bytes declare it (HTML `meta`, `@charset`, XML declaration), and a signed asset must
/// not be read differently because a server guessed. The names are IANA's; `text/javascript` is from RFC 9239.
package enum ContentType {
    /// The type for unknown content (RFC 9110 §8.3).
    package static let unknown = "application/octet-stream"

    /// The media type for the last segment of `path`, or ``unknown`` if it has no extension or one that is not in the table.
    ///
    /// A leading dot starts a name instead of an extension: `.js` is unknown. Case is ignored.
    package static func of(path: String) -> String {
        fileExtension(of: path).flatMap { byExtension[$0] } ?? unknown
    }

    /// The part after the last dot of the last segment, in lower case, or nil if there is none.
    static func fileExtension(of path: String) -> String? {
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        return name[name.index(after: dot)...].lowercased()
    }

    private static let byExtension: [String: String] = [
        // Text and code
        "atom": "application/atom+xml",
        "cjs": "text/javascript",
        "css": "text/css",
        "csv": "text/csv",
        "geojson": "application/geo+json",
        "htm": "text/html",
        "html": "text/html",
        "ics": "text/calendar",
        "ipynb": "application/x-ipynb+json",
        "js": "text/javascript",
        "json": "application/json",
        "jsonld": "application/ld+json",
        "less": "text/less",
        "map": "application/json",
        "markdown": "text/markdown",
        "md": "text/markdown",
        "mjs": "text/javascript",
        "rss": "application/rss+xml",
        "txt": "text/plain",
        "vtt": "text/vtt",
        "wasm": "application/wasm",
        "webmanifest": "application/manifest+json",
        "xhtml": "application/xhtml+xml",
        "xml": "application/xml",
        "xsd": "application/xml",
        "xsl": "application/xml",
        "yaml": "application/yaml",
        "yml": "application/yaml",

        // Images
        "apng": "image/apng",
        "avif": "image/avif",
        "bmp": "image/bmp",
        "cur": "image/vnd.microsoft.icon",
        "gif": "image/gif",
        "heic": "image/heic",
        "heif": "image/heif",
        "ico": "image/vnd.microsoft.icon",
        "jfif": "image/jpeg",
        "jpeg": "image/jpeg",
        "jpg": "image/jpeg",
        "jxl": "image/jxl",
        "png": "image/png",
        "svg": "image/svg+xml",
        "svgz": "image/svg+xml",
        "tif": "image/tiff",
        "tiff": "image/tiff",
        "webp": "image/webp",

        // Fonts
        "eot": "application/vnd.ms-fontobject",
        "otf": "font/otf",
        "ttc": "font/collection",
        "ttf": "font/ttf",
        "woff": "font/woff",
        "woff2": "font/woff2",

        // Sound and video
        "3gp": "video/3gpp",
        "aac": "audio/aac",
        "avi": "video/x-msvideo",
        "flac": "audio/flac",
        "m3u8": "application/vnd.apple.mpegurl",
        "m4a": "audio/mp4",
        "m4b": "audio/mp4",
        "m4v": "video/mp4",
        "mid": "audio/midi",
        "midi": "audio/midi",
        "mkv": "video/x-matroska",
        "mov": "video/quicktime",
        "mp3": "audio/mpeg",
        "mp4": "video/mp4",
        "mpd": "application/dash+xml",
        "mpeg": "video/mpeg",
        "mpg": "video/mpeg",
        "oga": "audio/ogg",
        "ogg": "audio/ogg",
        "ogv": "video/ogg",
        "opus": "audio/ogg",
        "wav": "audio/wav",
        "weba": "audio/webm",
        "webm": "video/webm",

        // Documents and archives
        "7z": "application/x-7z-compressed",
        "bz2": "application/x-bzip2",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip",
        "glb": "model/gltf-binary",
        "gltf": "model/gltf+json",
        "gz": "application/gzip",
        "jar": "application/java-archive",
        "obj": "model/obj",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odt": "application/vnd.oasis.opendocument.text",
        "pdf": "application/pdf",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf",
        "stl": "model/stl",
        "tar": "application/x-tar",
        "tgz": "application/gzip",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xz": "application/x-xz",
        "zip": "application/zip",
        "zst": "application/zstd",
    ]
}

/// An operator's settings for media types: additional types, and a charset for text.
package struct ContentTypeRules: Equatable, Sendable {
    /// Media types by extension, in lower case.
    ///
    /// They precede the table.
    package var types: [String: String]
    /// The charset added to text, JavaScript and XML without one.
    ///
    /// If nil, the default, the bytes decide.
    package var charset: String?

    package init(types: [String: String] = [:], charset: String? = nil) {
        self.types = types
        self.charset = charset
    }

    /// The type that the operator set for the file's extension.
    package func ownType(of path: String) -> String? {
        ContentType.fileExtension(of: path).flatMap { types[$0] }
    }

    package func type(of path: String) -> String {
        let own = ownType(of: path)
        return withCharset(own ?? ContentType.of(path: path))
    }

    package func withCharset(_ type: String) -> String {
        guard let charset, !type.contains(";"),
            type.hasPrefix("text/") || type.hasSuffix("/xml") || type.hasSuffix("+xml") || type.hasSuffix("/javascript")
        else { return type }
        return "\(type); charset=\(charset)"
    }
}
