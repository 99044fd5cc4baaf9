package import PatchFormat

/// The text of a `release.yaml` with its reasons in comments, for a person to edit.
package struct DescriptionText: Equatable, Sendable {
    package let app: AppID
    package let channel: ChannelName
    package let label: Label
    /// The source of the version, for a comment.
    package let versionSource: String
    /// The bundle's folder, relative to the description.
    package let folder: AssetPath
    /// Nil if the files could not be read.
    package let recognition: BundleRecognition?
    /// One sentence for each finding of `release --check`.
    package let notes: [String]

    package init(
        app: AppID,
        channel: ChannelName,
        label: Label,
        versionSource: String,
        folder: AssetPath,
        recognition: BundleRecognition?,
        notes: [String]
    ) {
        self.app = app
        self.channel = channel
        self.label = label
        self.versionSource = versionSource
        self.folder = folder
        self.recognition = recognition
        self.notes = notes
    }

    package var text: String {
        var lines = [
            "# The releases of \(app) on \(channel). `patchsign release --check .` finds mistakes in this file,",
            "# `patchsign release --schema` prints the schema that editors complete it with.",
            "app: \(app)",
            "channel: \(channel)",
            "# The whole list of the channel: one row for each bundle or script.",
            "patches:",
            "  - id: \(label.patchID)",
            "    kind: bundle",
            "    # \(Self.comment(versionSource.capitalizedFirst)). A version is published once: raise it with each change.",
            "    version: \(Self.quoted(label.version.text))",
            "    folder: \(Self.quoted(folder.text))",
        ]
        lines += notes.flatMap { ["    # \(Self.comment($0))"] }
        if let recognition {
            lines += [
                "    # The bundle \(Self.comment(recognition.words)).",
                "    routing: \(recognition.routing.rawValue)",
            ]
        }
        lines += [
            "    # Patterns as in .gitignore, for files that stay out of the bundle.",
            "    # exclude: [\"*.map\", \"drafts/\"]",
            "    # The share of the devices that may install this version. Without it: all of them.",
            "    # rules: {rollout: 10%}",
            "    # With a text, devices that install security fixes alone install this version too.",
            "    # security: {text: \"A form could run foreign scripts.\"}",
        ]
        return lines.map { $0 + "\n" }.joined()
    }

    /// The text on one line, even if it contains file names with control characters.
    private static func comment(_ text: String) -> String {
        let isSafe = { (letter: Character) in
            !letter.isNewline && !letter.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
        return String(text.map { isSafe($0) ? $0 : "?" })
    }

    /// A YAML text in double quotes.
    ///
    /// Asset paths and versions contain no control characters.
    private static func quoted(_ text: String) -> String {
        "\"" + text.flatMap { ["\\", "\""].contains($0) ? ["\\", $0] : [$0] } + "\""
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
