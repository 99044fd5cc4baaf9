import PatchSync

extension PatchlineStore {
    /// The name under which pages are served (see <doc:PageAPI>).
    public enum Host: Sendable {
        /// `NAME.localhost`. Its cookies are not sent to other ports of the machine.
        case own
        /// `localhost`, for code that expects this name. The app's cookies are sent to every port of the machine.
        case localhost
        /// `127.0.0.1`, for web views that cannot resolve the other names. The app's cookies are sent to every port of the machine.
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
