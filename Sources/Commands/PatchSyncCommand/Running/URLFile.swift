import PatchFormat
import CommandKit
import PatchStore
import SystemPackage

/// A file with the URL that opens the app.
///
/// Only its owner can read it.
struct URLFile {
    let path: FilePath

    init(_ argument: String) { path = FilePath(replacing: argument) }

    /// Writes the URL durably and atomically.
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

    /// Returns a page that redirects to the URL, so that a browser's command line contains the file's name and no secret.
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
