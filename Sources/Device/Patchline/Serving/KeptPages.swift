import Linux
import PatchStore
package import PatchSync
import SystemPackage

/// The number and size of the stored live pages and of the files that they link to.
package struct KeptPages: Equatable, Sendable {
    package let pages: Int
    /// The size in bytes, without the pages' records.
    package let pageBytes: Int
    package let links: Int
    package let linkBytes: Int

    /// Counts the files of `folder`; nil if it contains none.
    init?(at folder: FilePath, files: any FileOperations) {
        func kept(_ folder: FilePath, _ suffix: String) -> (count: Int, bytes: Int) {
            let names = ((try? files.list(folder)) ?? []).filter { $0.hasSuffix(suffix) }
            let sizes = names.compactMap { (try? files.identity(of: folder.at($0)))??.size }
            return (sizes.count, sizes.reduce(0, +))
        }
        (pages, pageBytes) = kept(folder, ".html")
        (links, linkBytes) = kept(folder.at("links"), ".link")
        guard pages > 0 || links > 0 else { return nil }
    }
}

extension Device {
    var pagesFolder: FilePath { store.root.at("pages") }

    package var keptPages: KeptPages? { KeptPages(at: pagesFolder, files: store.files) }
}
