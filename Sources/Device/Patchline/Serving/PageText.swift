/// Messages for pages and for recipients of a page's report.
///
/// They must not reveal where files are stored on this device.
enum PageText {
    /// Returns the text with each absolute path reduced to its last component.
    ///
    /// URLs are not changed.
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
