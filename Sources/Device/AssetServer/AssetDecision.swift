package import HTTPFiles
package import NIOHTTP1

/// What is done with one request; most are answered without waiting for anybody.
package struct AssetDecision: Sendable {
    package enum Action: Sendable {
        case answer(FileAnswer)
        /// The file is not the one that was verified: it is read before it is served.
        case examine(any ExaminedFile)
        /// Another server answers; this is the request as it may see it.
        case delegate(any RequestDelegate, FileRequest)
        /// Only the host can say.
        case call(PendingCall)
        /// An HTML file, which receives the release stamp.
        case page(PatchedPage)
        /// A call for the cookie.
        case entering
        /// A stream of events, from the one after this on; or only those that were missed.
        case events(after: String?, isPoll: Bool)
    }

    /// A browser is about to show the answer; an answer without a stamp counts as shown when it is sent.
    package struct Showing: Sendable {
        let stamp: ReleaseStamp
        /// Of the trial that waits for a page to be shown, and the host that begins it.
        let waiting: Waiting?

        struct Waiting: Sendable {
            let launch: String
            let host: any PageHost
        }
    }

    package let action: Action
    /// Fields of the answer besides its own.
    package var fields: HTTPHeaders = [:]
    /// Whether the request has the app's token, or what became of it.
    package var showsRight = false
    /// What has to be known of the request once its answer is used.
    var note: ServedSelections.Note?
    /// Nil for a request that shows no document of the current selection.
    var showing: Showing?
    /// For how long the answer holds: see ``PreparedReply/edition``.
    var edition: Int?

    init(
        _ action: Action,
        note: ServedSelections.Note? = nil,
        showing: Showing? = nil,
        edition: Int? = nil
    ) {
        self.action = action
        self.note = note
        self.showing = showing
        self.edition = edition
    }
}
