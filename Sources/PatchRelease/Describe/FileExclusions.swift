import PatchFormat
import PatchTrust

/// Which files below a bundle's folder are no part of the bundle.
///
/// Rules as in `.gitignore`: the last one that matches counts. A pattern without a slash matches a name at any depth, one with
/// a slash a path from the folder on; a slash at its end matches folders alone, and `!` before it takes the file again. `*` and
/// `?` match within one name. Nothing below a folder that is left out is looked at.
package struct FileExclusions: Equatable, Sendable {
    /// In the described folder, or at the top of a bundle's: a pattern a line, comments behind `#`.
    package static let fileName = ".patchlineignore"

    /// Version control, secrets of a development machine, and leftovers of editors and desktops.
    package static let standard = FileExclusions(
        always: [
            ".git", ".hg/", ".svn/", ".gitignore", ".gitattributes", ".gitmodules", ".env", ".env.*", ".DS_Store",
            "Thumbs.db", "desktop.ini", "*~", ".*.sw?", ".#*", "#*#", "*.bak", fileName,
        ]
    )

    private struct Rule: Equatable {
        let text: String
        let isOfFolders: Bool
        let isAnchored: Bool
        let takesAgain: Bool
    }

    private var rules: [Rule]

    /// Leaves nothing out.
    static let none = FileExclusions(always: [])

    private init(always patterns: [String]) {
        rules = patterns.compactMap { try? Self.rule($0) }
        precondition(rules.count == patterns.count, "the standard patterns are patterns")
    }

    /// These rules, and others behind them.
    ///
    /// - Throws: the broken rule, in words.
    package func adding(_ pattern: String) throws(PatternFault) -> FileExclusions {
        var exclusions = self
        exclusions.rules.append(try Self.rule(pattern))
        return exclusions
    }

    /// These rules, and those of a file's text.
    package func adding(text: String) throws(PatternFault) -> FileExclusions {
        var exclusions = self
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, pattern) in lines.enumerated() where !pattern.isEmpty && !pattern.hasPrefix("#") {
            do throws(PatternFault) { exclusions = try exclusions.adding(String(pattern)) } catch {
                throw PatternFault(line: index + 1, rule: error.rule)
            }
        }
        return exclusions
    }

    package struct PatternFault: Error, Equatable, Sendable {
        /// From 1; 0 for a pattern that stands alone.
        package let line: Int
        package let rule: String
    }

    private static func rule(_ pattern: String) throws(PatternFault) -> Rule {
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
            text: String(text),
            isOfFolders: isOfFolders,
            isAnchored: isAnchored,
            takesAgain: takesAgain
        )
    }

    /// - Parameter path: from the bundle's folder on, without a slash at its end.
    package func leaveOut(_ path: String, isFolder: Bool) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let last = rules.last { rule in
            (isFolder || !rule.isOfFolders) && PathPattern(rule.text).matches(rule.isAnchored ? path : name)
        }
        return last.map { !$0.takesAgain } ?? false
    }
}
