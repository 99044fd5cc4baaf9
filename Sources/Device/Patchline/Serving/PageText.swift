/// What pages, and whoever gets a page's report, may read of a message: where files lie on this device is not theirs.
enum PageText {
    /// The text with the last name alone of each absolute path; URLs stay.
    static func withoutFolders(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map(lastName).joined(separator: " ")
    }

    private static func lastName(_ word: Substring) -> Substring {
        let opening = word.prefix { !$0.isLetter && !$0.isNumber && $0 != "/" }
        let path = word.dropFirst(opening.count)
        guard path.first == "/", let name = path.split(separator: "/").last else { return word }
        return opening + name
    }
}
