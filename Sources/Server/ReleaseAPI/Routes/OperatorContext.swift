import HTTPFiles
import Hummingbird
import Logging
import NIOCore
import ServerRecords

/// What goes with a request of an operator from one middleware to the next.
struct OperatorContext: RequestContext {
    struct Source: RequestContextSource {
        let logger: Logger
        let admitted: AdmittedConnection
        let channel: any Channel
    }

    var coreContext: CoreRequestContextStorage
    let admitted: AdmittedConnection
    let channel: any Channel
    /// That was let in; nil where everybody is.
    var token: APIToken?

    init(source: Source) {
        admitted = source.admitted
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
