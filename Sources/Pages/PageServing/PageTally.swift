/// What the pages that this looked at were answered with, since it began.
package struct PageTally: Equatable, Sendable {
    package enum Outcome: String, CaseIterable, Sendable {
        /// 304: the client has the page.
        case notModified
        /// Title and blocks alone, for a template that the client has.
        case data
        /// A page of the protocol, whole, to a client that has no template of it.
        case first
        /// The same, for the template is another, or the page has no data.
        case template
        /// Compressed against a page that the client has.
        case dictionary
        /// As its server sent it.
        case asItIs
    }

    /// In bytes of bodies; whole is what its server sent for them.
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
