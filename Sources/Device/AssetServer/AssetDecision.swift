package import HTTPFiles
package import NIOHTTP1

/// The decision on one request.
///
/// Most requests are answered without waiting.
package struct AssetDecision: Sendable {
    package enum Action: Sendable {
        case answer(FileAnswer)
        /// The file has changed since it was verified, so it is read before it is served.
        case examine(any ExaminedFile)
        /// Another server answers this request, which does not contain the token.
        case delegate(any RequestDelegate, FileRequest)
        /// The host must answer.
        case call(PendingCall)
        /// An HTML file, which receives the release stamp.
        case page(PatchedPage)
        /// A request for the cookie.
        case entering
        /// A stream of the events after this one, or only the missed events.
        case events(after: String?, isPoll: Bool)
    }

    /// A response that a browser is about to show.
    ///
    /// A response without a stamp counts as shown when it is sent.
    package struct Showing: Sendable {
        let stamp: ReleaseStamp
        /// The trial that waits for a page to be shown, and the host that begins it.
        let waiting: Waiting?

        struct Waiting: Sendable {
            let launch: String
            let host: any PageHost
        }
    }

    package let action: Action
    /// Additional fields of the response.
    package var fields: HTTPHeaders = [:]
    /// Whether the request contains the app's token or the cookie exchanged for it.
    package var showsRight = false
    /// The facts of the request to remember once the response is used.
    var note: ServedSelections.Note?
    /// Nil if the request does not show a document of the current selection.
    var showing: Showing?
    /// How long the response is valid: see ``PreparedReply/edition``.
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
