import PatchFormat
import PatchTrust

/// The files in a bundle's folder that are not part of the bundle.
///
/// The rules follow `.gitignore`: the last matching rule counts. A pattern without a slash matches a name at any depth, one with
/// a slash a path relative to the folder. A trailing slash matches only folders, and a leading `!` includes the file again. `*`
/// and `?` match within one name. Excluding a folder excludes its contents too, except for the paths that `include:` names.
package struct FileExclusions: Equatable, Sendable {
    /// The ignore file of the described folder or of a bundle's folder: one pattern per line, comments after `#`.
    package static let fileName = ".patchlineignore"

    /// Version control, settings and secrets of a development machine, logs, and leftovers of editors and desktops.
    package static let standard = FileExclusions(
        always: [
            ".*", "!.well-known", "node_modules/", "*.log", "CVS/", "__MACOSX/", "Thumbs.db", "thumbs.db",
            "ehthumbs.db",
            "desktop.ini", "Desktop.ini", "*~", "#*#", "*.bak", "*.orig", "*.rej", "*.swp", "*.swo", "~$*",
            "$RECYCLE.BIN/",
        ]
    )

    /// The names of source maps and of their compressed forms.
    private static let sourceMaps = ["js", "mjs", "cjs", "css", "wasm"].flatMap { type in
        ["", ".gz", ".br", ".zst"].map { "*.\(type).map\($0)" }
    }

    /// The place where a rule was written.
    package enum Origin: Hashable, Sendable {
        /// A built-in rule, or the choice of ``BundleSelection/sourceMaps``.
        case standard
        /// The index in the description's list.
        case exclude(Int), include(Int)
        case line(Int, ofFile: String)
    }

    private struct Rule: Equatable {
        let text: String
        let origin: Origin
        let isOfFolders: Bool
        let isAnchored: Bool
        let takesAgain: Bool
        private let pattern: PathPattern
        private let isLiteral: Bool

        init(_ text: String, _ origin: Origin, isOfFolders: Bool, isAnchored: Bool, takesAgain: Bool) {
            (self.text, self.origin, pattern) = (text, origin, PathPattern(text))
            (self.isOfFolders, self.isAnchored, self.takesAgain) = (isOfFolders, isAnchored, takesAgain)
            isLiteral = !text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        }

        func matches(_ path: String, _ name: String, isFolder: Bool) -> Bool {
            guard isFolder || !isOfFolders else { return false }
            let candidate = isAnchored ? path : name
            return isLiteral ? candidate.utf8.elementsEqual(text.utf8) : pattern.matches(candidate)
        }

        static func == (left: Rule, right: Rule) -> Bool {
            left.text == right.text && left.origin == right.origin && left.isOfFolders == right.isOfFolders
                && left.isAnchored == right.isAnchored && left.takesAgain == right.takesAgain
        }

        /// Whether the rule can match paths below a folder.
        func reaches(below folder: String) -> Bool {
            let (pattern, depth) = (text.split(separator: "/"), folder.split(separator: "/").count)
            return isAnchored && pattern.count > depth
                && PathPattern(pattern.prefix(depth).joined(separator: "/")).matches(folder)
        }
    }

    private var rules: [Rule]
    /// The rules of `include:`, which override all others.
    private var inclusions: [Rule] = []

    /// Excludes nothing.
    static let none = FileExclusions(always: [])

    private init(always patterns: [String]) {
        rules = patterns.compactMap { try? Self.rule($0, .standard) }
        precondition(rules.count == patterns.count, "the standard patterns are patterns")
    }

    /// These rules, followed by another one.
    ///
    /// - Throws: a description of the invalid pattern.
    package func adding(_ pattern: String, at origin: Origin = .standard) throws(PatternFault) -> FileExclusions {
        var exclusions = self
        exclusions.rules.append(try Self.rule(pattern, origin))
        return exclusions
    }

    /// These rules, and one that includes matching files regardless of all others.
    package func including(_ pattern: String, at origin: Origin = .standard) throws(PatternFault) -> FileExclusions {
        guard !pattern.hasPrefix("!") else {
            throw PatternFault(line: 0, rule: "begins with '!', but `include:` adds files anyway")
        }
        var exclusions = self
        exclusions.inclusions.append(try Self.rule(pattern, origin))
        return exclusions
    }

    /// These rules, and one for source maps.
    func addingSourceMaps() -> FileExclusions {
        var exclusions = self
        exclusions.rules += Self.sourceMaps.compactMap { try? Self.rule($0, .standard) }
        return exclusions
    }

    /// These rules, followed by those of a file's text.
    ///
    /// Trailing spaces of a line are ignored.
    package func adding(text: String, of file: String = fileName) throws(PatternFault) -> FileExclusions {
        var exclusions = self
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            var pattern = line
            while let last = pattern.last, last == " " || last == "\t" { pattern.removeLast() }
            guard !pattern.isEmpty, !pattern.hasPrefix("#") else { continue }
            do throws(PatternFault) {
                exclusions = try exclusions.adding(String(pattern), at: .line(index + 1, ofFile: file))
            } catch { throw PatternFault(line: index + 1, rule: error.rule) }
        }
        return exclusions
    }

    package struct PatternFault: Error, Equatable, Sendable {
        /// Line number from 1; 0 for a pattern that is not from a file.
        package let line: Int
        package let rule: String
    }

    private static func rule(_ pattern: String, _ origin: Origin) throws(PatternFault) -> Rule {
        func broken(_ rule: String) -> PatternFault { PatternFault(line: 0, rule: rule) }
        var text = pattern[...]
        let takesAgain = text.hasPrefix("!")
        if takesAgain { text.removeFirst() }
        let isOfFolders = text.hasSuffix("/")
        if isOfFolders { text.removeLast() }
        let isAnchored = text.contains("/")
        if text.hasPrefix("/") { text.removeFirst() }
        guard !text.isEmpty else { throw broken("names nothing") }
        guard !text.contains("**") else {
            throw broken("has '**'; a pattern without a slash matches at every depth already")
        }
        guard
            !text.split(separator: "/", omittingEmptySubsequences: false).contains(where: {
                ["", ".", ".."].contains($0)
            })
        else { throw broken("must name a path inside the folder, as in 'tests/*.js'") }
        return Rule(
            String(text),
            origin,
            isOfFolders: isOfFolders,
            isAnchored: isAnchored,
            takesAgain: takesAgain
        )
    }

    /// The decision of the rules about one file or folder.
    struct Verdict: Equatable {
        /// `partly`: only the files of the folder that `include:` names are included.
        enum Decision {
            case taken, partly, leftOut
        }

        let decision: Decision
        /// The origins of the matching rules, without built-in ones.
        let matched: [Origin]
    }

    /// - Parameters:
    ///   - path: Relative to the bundle's folder, without a trailing slash.
    ///   - isInLeftOut: Whether its folder's decision is `partly`.
    func verdict(_ path: String, isFolder: Bool, isInLeftOut: Bool = false) -> Verdict {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var (isOut, matched): (Bool, [Origin]) = (isInLeftOut, [])
        for rule in rules where rule.matches(path, name, isFolder: isFolder) {
            if !isInLeftOut { isOut = !rule.takesAgain }
            if rule.origin != .standard { matched.append(rule.origin) }
        }
        for rule in inclusions where rule.matches(path, name, isFolder: isFolder) {
            isOut = false
            matched.append(rule.origin)
        }
        guard isOut, isFolder, inclusions.contains(where: { $0.reaches(below: path) }) else {
            return Verdict(decision: isOut ? .leftOut : .taken, matched: matched)
        }
        return Verdict(decision: .partly, matched: matched)
    }

    package func leaveOut(_ path: String, isFolder: Bool) -> Bool {
        verdict(path, isFolder: isFolder).decision != .taken
    }

    /// The patterns of an ignore file or a description, in their order.
    ///
    /// Patterns that matched nothing are probably misspelled.
    package var written: [(origin: Origin, text: String)] {
        (rules + inclusions).filter { $0.origin != .standard }.map { rule in
            (rule.origin, (rule.takesAgain ? "!" : "") + rule.text + (rule.isOfFolders ? "/" : ""))
        }
    }
}
