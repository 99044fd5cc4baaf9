import ArgumentParser
import PatchFormat
import PatchRelease
import CommandKit

/// How many files of a bundle are named to whoever is about to sign.
struct NamesOption: ParsableArguments {
    @Flag(name: .customLong("all"), help: "Name every file. Default: the first 20 of each bundle.")
    var showsAll = false

    func write(_ difference: ReleaseDifference, to console: Console) {
        for line in difference.words(showsAll: showsAll) { console.line("  " + styled(line, on: console)) }
    }

    /// The files of each bundle that is listed.
    func write(filesOf contents: ReleaseContents, to console: Console) {
        for entry in contents.list.entries {
            guard let manifest = contents.manifests[entry.label] else { continue }
            console.line("files of \(entry.label):")
            for line in ReleaseDifference.shown(manifest.assets.map(\.path.text), all: showsAll) {
                console.line(printable(line))
            }
        }
    }
}
