package import Gateways
package import PatchFetch
package import PatchStore
package import SystemPackage

/// Reasons why a loader's update failed, or the installed version cannot be run.
package enum LoaderClientError: Error, Equatable, Sendable {
    /// The server or the network failed, or the status was not 200.
    case fetch(FetchError)
    /// The package was rejected.
    case package(LoaderError)
    case file(FileError)
    /// Another update is in progress.
    case lock(StoreLockError)
    /// The file with the installed version is malformed.
    case record(FilePath)
}

extension LoaderClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fetch(let error): error.description
        case .package(let error): error.description
        case .file(let error): error.description
        case .lock(let error): error.description
        case .record(let path): "\(path) does not contain a version number"
        }
    }
}

func onDisk<Value>(_ work: () throws(FileError) -> Value) throws(LoaderClientError) -> Value {
    do throws(FileError) { return try work() } catch { throw .file(error) }
}

func checking<Value>(_ work: () throws(LoaderError) -> Value) throws(LoaderClientError) -> Value {
    do throws(LoaderError) { return try work() } catch { throw .package(error) }
}
