import Glibc
package import SystemPackage

extension FilePath {
    /// Where this process is.
    package static var workingDirectory: FilePath {
        guard let text = unsafe getcwd(nil, 0) else { return "/" }
        defer { unsafe free(text) }
        return unsafe FilePath(platformString: text)
    }

    /// A path as somebody gave it: absolute, or below the working directory.
    package init(given text: String) {
        let path = FilePath(text)
        self = (path.isAbsolute ? path : Self.workingDirectory.pushing(path)).lexicallyNormalized()
    }
}
