package import Gateways
package import PatchFetch
package import PatchFormat
package import PatchStore

/// Why a version of a Meteor app did not come, or what is here cannot be run.
package enum MeteorClientError: Error, Equatable, Sendable {
    /// What Meteor's client says as well.
    case meteor(MeteorError)
    /// The network's; also what no server may answer.
    case fetch(FetchError)
    case file(FileError)
    /// Another program has the folder.
    case lock(StoreLockError)
    /// What this program keeps there says something else.
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

func judged<Value>(_ work: () throws(MeteorError) -> Value) throws(MeteorClientError) -> Value {
    do throws(MeteorError) { return try work() } catch { throw .meteor(error) }
}
