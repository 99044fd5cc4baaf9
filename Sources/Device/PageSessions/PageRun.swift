import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PageDiff
import PatchFormat

/// One request to a page's server, shared by all visits of the page meanwhile.
final class PageRun: Sendable {
    /// The response for visitors without a stored page.
    ///
    /// The first visitor has a separate one.
    enum First: Sendable {
        /// The page while it is being received.
        case page(HTTPHeaders, PageFlow)
        /// There is no page. The visitors send their own requests.
        case nothing
    }

    /// The outcome that is reported to the page.
    struct End: Sendable {
        let result: PageResult
        /// When the shown page was received from its server.
        let savedAt: UTCTime
    }

    /// The result of a request, without the page.
    struct Visit: Sendable {
        let name: String
        let session: PageSession
        let end: Awaited<End?>
    }

    /// The name that the page uses for this visit.
    let name: String
    let place: PagePlace
    /// The page that is shown while the server is asked.
    let shown: KeptPage?
    let startedAt: UTCTime
    let first = Awaited<First>()
    /// The inner value is nil if there was no page.
    let end = Awaited<End?>()
    var visit: Visit { Visit(name: name, session: place.session, end: end) }
    private let own = NIOLockedValueBox<FileAnswer?>(nil)

    init(name: String, place: PagePlace, shown: KeptPage?, at time: UTCTime) {
        (self.name, self.place, self.shown, startedAt) = (name, place, shown, time)
    }

    /// - Parameter answer: The response for the visitor that started the request.
    func begin(_ first: First, own answer: FileAnswer?) {
        own.withLockedValue { $0 = answer }
        self.first.set(first)
    }

    /// Returns the first visitor's response once, then nil.
    func takeOwn() -> FileAnswer? { own.withLockedValue { $0.take() } }
}
