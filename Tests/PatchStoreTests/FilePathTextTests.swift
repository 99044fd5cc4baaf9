import PatchStore
import SystemPackage
import Testing

@Suite("A path's text")
struct FilePathTextTests {
    private static let paths = ["/", "", "a", "a/b", "/a", "/a/b", "/a//b/", "/ä/ö", "..", "./a", "/a/.b"]

    @Test(arguments: paths)
    func `has the parent and the name that the path has`(_ text: String) {
        let path = FilePath(text)
        #expect(path.parent == path.removingLastComponent())
        #expect(path.name == path.lastComponent?.string)
    }

    @Test(arguments: paths, ["b", "b/c", "b/", "", "ß"])
    func `has at a name what appending it gives`(_ text: String, _ name: String) {
        #expect(FilePath(text).at(name) == FilePath(text).appending(name))
    }
}
