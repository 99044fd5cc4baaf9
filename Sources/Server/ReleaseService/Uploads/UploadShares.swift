/// How an app's places for unfinished uploads are shared out among senders, so that one pipeline cannot keep the others out.
enum UploadShares {
    struct Waiting: Equatable {
        let id: String
        /// Empty for an upload that an older server began.
        let sender: String
        /// When something was last written of it, in nanoseconds.
        let touched: Int64
        /// Bytes of it are being received.
        var isBusy = false
    }

    /// A sender with fewer uploads gets a place of a sender with more.
    static let share = 4

    /// The upload that makes room for one more of a sender when all places are taken.
    ///
    /// It is the longest idle one of the sender with the most. Its sender can begin it again.
    ///
    /// - Returns: nil if the sender has its share, or no other sender has more than its share.
    static func leaving(_ uploads: [Waiting], for sender: String) -> Waiting? {
        let senders = Dictionary(grouping: uploads, by: \.sender)
        guard senders[sender]?.count ?? 0 < share else { return nil }
        let most = senders.values.filter { $0.count > share }.max { ($0.count, $1[0].id) < ($1.count, $0[0].id) }
        return most?.filter { !$0.isBusy }.min { ($0.touched, $0.id) < ($1.touched, $1.id) }
    }
}
