/// The number of responses by outcome since the start.
package struct PageTally: Equatable, Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        /// The client has the page: 304.
        case notModified
        /// Only title and blocks, for a client that has the template.
        case data
        /// A whole page of the protocol, for a client without a template.
        case first
        /// A whole page of the protocol, because the template changed or the page has no data.
        case template
        /// Compressed against a page that the client has.
        case dictionary
        /// The server's bytes, unchanged.
        case asItIs
    }

    /// A count of responses and bytes of their bodies.
    ///
    /// The whole bytes are those the server sent.
    package struct Count: Equatable, Sendable {
        package var answers = 0
        package var sentBytes = 0
        package var wholeBytes = 0
    }

    private var counts: [Outcome: Count] = [:]

    package init() {}

    package subscript(outcome: Outcome) -> Count { counts[outcome] ?? Count() }

    mutating func add(_ outcome: Outcome, sent: Int, whole: Int) {
        var count = self[outcome]
        count.answers += 1
        count.sentBytes += sent
        count.wholeBytes += whole
        counts[outcome] = count
    }
}
