import ArgumentParser
package import PatchFormat

/// The descriptive texts of a release in the history.
package struct NotesOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A name for the release, in one line.", valueName: "text"))
    private var label: String?

    @Option(help: ArgumentHelp("A description of its changes.", valueName: "text"))
    private var notes: String?

    @Option(help: ArgumentHelp("The author of the release.", valueName: "name"))
    private var author: String?

    @Option(help: ArgumentHelp("The source commit of the release.", valueName: "hash"))
    private var commit: String?

    package init() {}

    /// The members of the API's request.
    package var json: JSON {
        let members = [("label", label), ("notes", notes), ("author", author), ("commit", commit)]
        return .fields(members.map { ($0.0, $0.1.map { .text($0) }) })
    }
}
