import ArgumentParser
import PatchFormat
import PatchRelease
import CommandKit

/// The number of a bundle's files that are listed for the signer.
struct NamesOption: ParsableArguments {
    @Flag(name: .customLong("all"), help: "Name every file. Default: the first 20 of each bundle.")
    var showsAll = false

    func write(_ difference: ReleaseDifference, to console: Console) {
        for line in difference.words(showsAll: showsAll) { console.line("  " + styled(line, on: console)) }
    }

    /// Lists the files of each bundle.
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
