import PatchFormat
import CommandKit
import PatchStore
import SystemPackage

/// A file that its owner alone reads, with the URL that the app is opened by.
struct URLFile {
    let path: FilePath

    init(_ argument: String) { path = FilePath(replacing: argument) }

    /// Afterwards: durable; nobody ever sees half of it.
    func write(_ url: String) throws(Failure) {
        let isPage = path.extension == "html"
        do throws(FileError) {
            try DiskFiles().replace(
                path.name ?? "",
                in: path.removingLastComponent(),
                with: Array((isPage ? Self.page(leadingTo: url) : "\(url)\n").utf8)
            )
        } catch { throw Failure("--url-file: \(error)", code: .disk) }
    }

    /// So that a browser's command line names this file and no secret.
    private static func page(leadingTo url: String) -> String {
        """
        <!doctype html>
        <meta charset="utf-8">
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0; url=\(url)">
        <title>Opening the app</title>

        """
    }
}
