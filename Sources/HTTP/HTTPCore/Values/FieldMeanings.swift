package import NIOHTTP1

extension HTTPHeaders {
    /// The media type of `Content-Type`, in lower case and without parameters; empty if the field is missing (RFC 9110 §8.3.1).
    package var mediaType: String { first(name: "Content-Type").map { Self.mediaType($0) } ?? "" }

    /// Whether the content is a page for browsers.
    package var isPage: Bool { ["text/html", "application/xhtml+xml"].contains(mediaType) }

    /// The media type in a value of `Content-Type`.
    package static func mediaType(_ contentType: String) -> String {
        contentType.drop { $0 == " " || $0 == "\t" }.prefix { !" \t;,".contains($0) }.lowercased()
    }

    /// The media types of `Accept` in their order, without those that are refused by `q=0` (RFC 9110 §12.5.1).
    package var acceptedTypes: [String] {
        self["Accept"].flatMap { $0.split(separator: ",") }.filter { range in
            !range.split(separator: ";").dropFirst().contains { parameter in
                let text = parameter.filter { $0 != " " && $0 != "\t" }.lowercased()
                return text.hasPrefix("q=0") && text.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
            }
        }
        .map { Self.mediaType(String($0)) }
    }

    package var cacheDirectives: CacheDirectives { CacheDirectives(self["Cache-Control"]) }
}

/// The directives of `Cache-Control`, by name in lower case (RFC 9111 §5.2).
package struct CacheDirectives: Equatable, Sendable {
    private let values: [String: String]

    /// Parses the lines of the field.
    ///
    /// If a directive is repeated, the first one counts.
    ///
    /// Some servers separate directives with semicolons, and any server may put an argument in quotes. Text in quotes is split as
    /// well, which can only make the result stricter.
    package init(_ lines: [String]) {
        let directives = lines.flatMap { $0.split { $0 == "," || $0 == ";" } }.map { line in
            let words = line.filter { !" \t\"".contains($0) }
            let name = words.prefix { $0 != "=" }
            return (name.lowercased(), String(words.dropFirst(name.count + 1)))
        }
        values = Dictionary(directives) { first, _ in first }
    }

    package func contains(_ name: String) -> Bool { values[name] != nil }

    /// The argument of a directive in seconds, or nil if the directive is missing or its argument is not a number.
    package func seconds(_ name: String) -> Int? {
        values[name].flatMap { $0.allSatisfy { $0.isASCII && $0.isNumber } ? Int($0) : nil }
    }
}
