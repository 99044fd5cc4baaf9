import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PageDiff
import PatchFormat

/// One request to a page's server, for all who visit the page meanwhile.
final class PageRun: Sendable {
    /// What visitors without a kept page get; the first one has an answer of its own.
    enum First: Sendable {
        /// The page while it comes.
        case page(HTTPHeaders, PageFlow)
        /// No page: they ask for themselves.
        case nothing
    }

    /// What the page is told.
    struct End: Sendable {
        let told: PageResult
        /// When the page that is shown came from its server.
        let savedAt: UTCTime
    }

    /// What is known of it once it is over, which holds no page.
    struct Visit: Sendable {
        let name: String
        let session: PageSession
        let end: Awaited<End?>
    }

    /// Names it to its page.
    let name: String
    let place: PagePlace
    /// The page that is shown meanwhile.
    let shown: KeptPage?
    let startedAt: UTCTime
    let first = Awaited<First>()
    /// Nil inside: there was no page.
    let end = Awaited<End?>()
    var visit: Visit { Visit(name: name, session: place.session, end: end) }
    private let own = NIOLockedValueBox<FileAnswer?>(nil)

    init(name: String, place: PagePlace, shown: KeptPage?, at time: UTCTime) {
        (self.name, self.place, self.shown, startedAt) = (name, place, shown, time)
    }

    /// - Parameter answer: of the visitor that the request is made for.
    func begin(_ first: First, own answer: FileAnswer?) {
        own.withLockedValue { $0 = answer }
        self.first.set(first)
    }

    /// The first visitor's answer, once.
    func takeOwn() -> FileAnswer? { own.withLockedValue { $0.take() } }
}
