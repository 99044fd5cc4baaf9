import PatchSync

extension PatchlineStore {
    /// The name under which pages are served (see <doc:PageAPI>).
    public enum Host: Sendable {
        /// `NAME.localhost`, whose cookies reach no other port of the machine.
        case own
        /// `localhost`, for code that looks for this name. Every port of the machine gets the app's cookies.
        case localhost
        /// `127.0.0.1`, for web views that resolve no such name. Every port of the machine gets the app's cookies.
        case loopbackAddress

        init(_ host: PagesHost) {
            self =
                switch host {
                case .own: .own
                case .localhost: .localhost
                case .address: .loopbackAddress
                }
        }

        var ofDevice: PagesHost {
            switch self {
            case .own: .own
            case .localhost: .localhost
            case .loopbackAddress: .address
            }
        }
    }
}
