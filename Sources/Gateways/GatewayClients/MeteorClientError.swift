package import Gateways
package import PatchFetch
package import PatchFormat
package import PatchStore

/// Reasons why a version of a Meteor app could not be downloaded, or a stored one cannot be run.
package enum MeteorClientError: Error, Equatable, Sendable {
    /// Meteor's client reports this error too.
    case meteor(MeteorError)
    /// The network failed, or the response was not valid.
    case fetch(FetchError)
    case file(FileError)
    /// Another process has locked the folder.
    case lock(StoreLockError)
    /// The record in the folder is malformed.
    case record(FormatError)
}

extension MeteorClientError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .meteor(let error): error.description
        case .fetch(let error): error.description
        case .file(let error): error.description
        case .lock(let error): error.description
        case .record(let error): error.description
        }
    }
}

func kept<Value>(_ work: () throws(FileError) -> Value) throws(MeteorClientError) -> Value {
    do throws(FileError) { return try work() } catch { throw .file(error) }
}

func mappingErrors<Value>(_ work: () throws(MeteorError) -> Value) throws(MeteorClientError) -> Value {
    do throws(MeteorError) { return try work() } catch { throw .meteor(error) }
}
