import PatchFormat
import PatchCrypto
import PatchTrust

/// The choices of a description, besides `exclude`, that select the published files of a bundle's folder, or judge them.
package struct BundleSelection: Equatable, Sendable {
    package enum Links: String, Sendable, CaseIterable {
        /// A symbolic link is an error.
        case refuse
        /// A symbolic link is replaced by its target if the target is inside the bundle's folder.
        case follow
    }

    package enum SourceMaps: String, Sendable, CaseIterable {
        case include
        case leaveOut = "leave-out"
    }

    /// The part of an app that confirms a version.
    package enum Confirmer: String, Sendable, CaseIterable {
        /// A page calls `patchline.confirm()`. A bundle without this call causes a warning.
        case page
        /// A program runs `patchsync confirm`, or uses the library.
        case program
    }

    static let keys: Set<String> = ["include", "links", "source-maps", "allow-secrets", "confirmed-by"]

    /// Patterns of files that are included even if an exclusion matches them.
    package var include: [String] = []
    package var links = Links.refuse
    /// Nil without a choice: source maps are included, with a warning if they contain the app's source code.
    package var sourceMaps: SourceMaps?
    /// Patterns of paths that may contain private keys and tokens.
    package var allowedSecrets: [String] = []
    package var confirmer = Confirmer.page

    package init() {}

    /// Reads the members of a described bundle.
    init(_ fields: Fields, _ mistakes: Mistakes) {
        include = Self.patterns("include", of: fields, mistakes)
        allowedSecrets = Self.patterns("allow-secrets", of: fields, mistakes)
        links = Self.choice("links", of: fields, mistakes) ?? .refuse
        sourceMaps = Self.choice("source-maps", of: fields, mistakes)
        confirmer = Self.choice("confirmed-by", of: fields, mistakes) ?? .page
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String,
        of fields: Fields,
        _ mistakes: Mistakes
    ) -> Choice? where Choice.RawValue == String {
        guard fields.has(key) else { return nil }
        return mistakes.take { () throws(FormatError) in
            guard let choice = Choice(rawValue: try fields.words(key)) else {
                throw fields.broken(key, "must be \(Choice.allCases.map(\.rawValue).joined(separator: " or "))")
            }
            return choice
        }
    }

    private static func patterns(_ key: String, of fields: Fields, _ mistakes: Mistakes) -> [String] {
        guard fields.has(key) else { return [] }
        let texts = mistakes.take { () throws(FormatError) in try fields.texts(key, limit: 1_000) } ?? []
        for (index, text) in texts.enumerated() {
            do throws(FileExclusions.PatternFault) { _ = try FileExclusions.none.including(text) } catch {
                mistakes.add(fields.broken("\(key)[\(index)]", error.rule))
            }
        }
        return texts
    }

    /// Whether a file may contain a private key or a token.
    func allowsSecrets(in path: String) -> Bool { secretRule(for: path) != nil }

    /// The index of the first pattern of `allow-secrets` that matches.
    func secretRule(for path: String) -> Int? {
        allowedSecrets.firstIndex { text in
            (try? FileExclusions.none.adding(text))?.verdict(path, isFolder: false).decision == .leftOut
        }
    }
}

extension FileExclusions {
    /// The standard rules combined with the choices of a bundle.
    init(of selection: BundleSelection) {
        self = .standard
        if selection.sourceMaps == .leaveOut { self = addingSourceMaps() }
        for (place, text) in selection.include.enumerated() {
            self = (try? including(text, at: .include(place))) ?? self
        }
    }
}
