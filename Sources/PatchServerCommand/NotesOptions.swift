import ArgumentParser
import PatchFormat
import ReleaseService

/// What the history says of a release besides what is in it.
struct NotesOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What people call the release, in one line.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("What it changes.", valueName: "text"))
    var notes: String?

    @Option(help: ArgumentHelp("Who made it.", valueName: "name"))
    var author: String?

    @Option(help: ArgumentHelp("The commit of the source that it was made from.", valueName: "hash"))
    var commit: String?

    func given() throws(FormatError) -> ReleaseNotes {
        let members = [("label", label), ("notes", notes), ("author", author), ("commit", commit)]
        return try ReleaseNotes(Fields(.fields(members.map { ($0.0, $0.1.map { .text($0) }) }), of: "the command line"))
    }
}
