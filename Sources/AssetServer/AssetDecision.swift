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
        /// The first page of this launch: the host hears of it before anything of it is sent.
        case opening(launch: String, any PageHost)
        /// A stream of events, from the one after this on.
        case events(after: String?)
    }

    package let action: Action
    /// Fields of the answer besides its own.
    package var fields: HTTPHeaders = [:]
    /// Whether the request has the app's token, or what became of it.
    package var showsRight = false
    /// What has to be known of the request once its answer is used.
    var note: ServedSelections.Note?
    /// For how long the answer holds: see ``PreparedReply/edition``.
    var edition: Int?

    init(_ action: Action, note: ServedSelections.Note? = nil, edition: Int? = nil) {
        self.action = action
        self.note = note
        self.edition = edition
    }
}
