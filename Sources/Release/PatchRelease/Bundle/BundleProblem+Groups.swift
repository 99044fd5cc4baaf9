import PatchFormat
import PatchStore
import SystemPackage

/// Problems of one kind, in one message.
package struct BundleProblemGroup: Equatable, Sendable {
    /// The maximum number of names in a message.
    static let shown = 20
    /// The maximum number of commands in a hint.
    static let commandsShown = 5

    package let problems: [BundleProblem]

    /// `web/a is neither a file nor a folder`, or `2 symbolic links: web/a, web/b; a release contains only files and folders`.
    package var sentence: String {
        guard problems.count > 1, let first = problems.first, let heading = first.heading else {
            return problems.map(\.description).joined(separator: "; ")
        }
        let names = problems.compactMap(\.shortName)
        let more = names.count > Self.shown ? " and \(Words.grouped(names.count - Self.shown)) more" : ""
        return
            "\(Words.grouped(problems.count)) \(heading.what): \(names.prefix(Self.shown).joined(separator: ", "))\(more)"
            + (heading.rule.map { "; \($0)" } ?? "")
    }

    /// Shell commands that rename the files, deepest folders first; nil if a command cannot help.
    package var renaming: String? {
        let commands = problems.sorted { $0.depth > $1.depth }.compactMap(\.renaming)
        guard !commands.isEmpty else { return nil }
        let rest = commands.count - Self.commandsShown
        let more = rest > 0 ? "\n… and \(Words.grouped(rest)) more in the same way" : ""
        let all = rest > 0 ? (problems.first?.convmv.map { "\n\($0) renames all of them (package convmv)" } ?? "") : ""
        return commands.prefix(Self.commandsShown).joined(separator: "\n") + more + all
    }
}

extension BundleProblem {
    /// The problems grouped by kind, in the order of each kind's first problem.
    package var groups: [BundleProblemGroup] {
        var order: [String] = []
        var groups: [String: [BundleProblem]] = [:]
        for problem in each {
            let kind = problem.heading?.what ?? "\(problem)"
            if groups[kind] == nil { order.append(kind) }
            groups[kind, default: []].append(problem)
        }
        return order.compactMap { groups[$0].map(BundleProblemGroup.init) }
    }

    /// One mistake per kind of problem.
    package func mistakes(at place: DescriptionError) -> [DescriptionError] {
        let groups = groups
        guard groups.count > 1 else { return [place] }
        return groups.map { group in
            DescriptionError(place.file, line: place.line, field: place.field, rule: ": \(group.sentence)")
        }
    }

    /// The heading for several problems of this kind; nil for kinds that a folder can have only once.
    fileprivate var heading: (what: String, rule: String?)? {
        switch self {
        case .symbolicLink: ("symbolic links", "a release contains only files and folders")
        case .link(_, .outside): ("symbolic links that lead out of the bundle's folder", nil)
        case .link(_, .nowhere): ("symbolic links that lead nowhere", nil)
        case .link(_, .circle): ("symbolic links to folders that they are in", nil)
        case .link(_, .leftOut): ("symbolic links to files that are left out", nil)
        case .special: ("entries that are neither files nor folders", nil)
        case .badName(_, .notNFC): ("names that are not in Unicode normal form C", "each looks like its form C")
        case .badName(_, .backslash): ("names with a backslash", nil)
        case .badName(_, .control): ("names with a control character", nil)
        case .badName(_, .segmentTooLong): ("names over 255 bytes", nil)
        case .badName(_, .tooLong): ("paths over 1,024 bytes", nil)
        case .notUTF8: ("names that are not UTF-8", nil)
        case .twins: ("paths that equal another after case folding", nil)
        case .reserved: ("paths below __patchline/", "they belong to the device")
        case .releaseInside: ("signed releases", "they would be signed and published again as files")
        case .secret, .archived: ("files with secrets", "anyone could read them once they are published")
        case .badName, .missing, .notAFolder, .notAFile, .empty, .tooManyFiles, .noIndex, .manifest, .gateway,
            .scriptNotUTF8, .noProgram, .noHost, .exclusions, .ignoreFile, .changed, .several:
            nil
        }
    }

    /// The name in a list.
    fileprivate var shortName: String? {
        switch self {
        case .symbolicLink(let path), .link(let path, .nowhere), .link(let path, .circle), .special(let path),
            .reserved(let path), .releaseInside(let path):
            path.string
        case .link(let path, .outside(let target)): "\(path) (to \(target))"
        case .link(let path, .leftOut(let target)): "\(path) (to \(target))"
        case .badName(let path, .tooLong), .badName(let path, .segmentTooLong): ShellWord.shortened(path.string)
        case .badName(let path, _): ShellWord.quoted(Array(path.string.utf8))
        case .notUTF8(let folder, let name): ShellWord.quoted(Array(folder.string.utf8) + [UInt8(ascii: "/")] + name)
        case .twins(let one, let other, _): "\(other) (\(one))"
        case .secret(let path, let kind): "\(path) (\(kind.words))"
        case .archived(let path, let secret): "\(path): \(secret.entry) (\(secret.kind.words))"
        case .missing, .notAFolder, .notAFile, .empty, .tooManyFiles, .noIndex, .manifest, .gateway, .scriptNotUTF8,
            .noProgram, .noHost, .exclusions, .ignoreFile, .changed, .several:
            nil
        }
    }

    fileprivate var depth: Int {
        switch self {
        case .badName(let path, _): path.components.count
        case .notUTF8(let folder, _): folder.components.count + 1
        default: 0
        }
    }

    /// `mv -n -- $'web/u\xcc\x88.js' 'web/ü.js'`.
    fileprivate var renaming: String? {
        switch self {
        case .badName(let path, .notNFC):
            Self.move(path.parent, Array((path.name ?? "").utf8), to: (path.name ?? "").normalFormC)
        case .badName(let path, .backslash), .badName(let path, .control):
            Self.move(path.parent, Array((path.name ?? "").utf8), to: Self.plain(path.name ?? ""))
        case .notUTF8(let folder, let name):
            // Archives from other systems mostly have Latin-1 names.
            Self.move(folder, name, to: Self.plain(String(String.UnicodeScalarView(name.map { Unicode.Scalar($0) }))))
        case .twins(_, let other, let folder):
            Self.move(
                folder.pushing(FilePath(other.text)).parent,
                Array((other.segments.last ?? "").utf8),
                to: "2-" + (other.segments.last ?? "")
            )
        default: nil
        }
    }

    fileprivate var convmv: String? {
        switch self {
        case .badName(let path, .notNFC):
            "convmv -r -f utf-8 -t utf-8 --nfc --notest \(ShellWord.quoted(Array(path.parent.string.utf8)))"
        case .notUTF8(let folder, _):
            "convmv -r -f latin1 -t utf-8 --notest \(ShellWord.quoted(Array(folder.string.utf8)))"
        default: nil
        }
    }

    private static func move(_ folder: FilePath, _ name: [UInt8], to new: String) -> String {
        let start = Array((folder.string + "/").utf8)
        return "mv -n -- \(ShellWord.quoted(start + name)) \(ShellWord.quoted(start + Array(new.utf8)))"
    }

    private static func plain(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0 == "\\" || $0.properties.generalCategory == .control ? "_" : $0 }
            )
        )
        .normalFormC
    }
}

/// Quotes a text as one word of a shell command.
enum ShellWord {
    /// Bare if the text needs no quotes, else in single quotes.
    ///
    /// Invisible characters and invalid UTF-8 use `$'…'` of bash and zsh.
    static func quoted(_ bytes: [UInt8]) -> String {
        let text = String(validating: bytes, as: UTF8.self)
        if let text, text.normalFormC.utf8.elementsEqual(bytes), !text.holdsControlCharacters {
            guard !bytes.allSatisfy(isBare) else { return text }
            return bytes.contains(UInt8(ascii: "'")) ? escaped(bytes) : "'\(text)'"
        }
        return escaped(bytes)
    }

    private static func escaped(_ bytes: [UInt8]) -> String {
        let body = bytes.map { byte in
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "'"): "\\" + String(Unicode.Scalar(byte))
            case 0x20..<0x7F: String(Unicode.Scalar(byte))
            default: "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "$'\(body.joined())'"
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            0x80..., UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// Shortens a long path to its beginning and end.
    static func shortened(_ text: String) -> String {
        text.count > 160 ? "\(text.prefix(80))…\(text.suffix(60))" : text
    }
}
