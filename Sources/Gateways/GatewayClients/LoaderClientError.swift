package import Gateways
package import PatchFetch
package import PatchStore
package import SystemPackage

/// Why a loader's update did not come, or what is installed cannot be run.
package enum LoaderClientError: Error, Equatable, Sendable {
    /// The server's or the network's; also every answer but 200.
    case fetch(FetchError)
    /// What came is not taken.
    case package(LoaderError)
    case file(FileError)
    /// Another update is under way.
    case lock(StoreLockError)
    /// The file that says what is installed says something else.
    case record(FilePath)
}

extension LoaderClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fetch(let error): error.description
        case .package(let error): error.description
        case .file(let error): error.description
        case .lock(let error): error.description
        case .record(let path): "\(path) does not hold the number of a version"
        }
    }
}

func onDisk<Value>(_ work: () throws(FileError) -> Value) throws(LoaderClientError) -> Value {
    do throws(FileError) { return try work() } catch { throw .file(error) }
}

func checking<Value>(_ work: () throws(LoaderError) -> Value) throws(LoaderClientError) -> Value {
    do throws(LoaderError) { return try work() } catch { throw .package(error) }
}
