/// The limits of uploads and listings.
package struct UploaderLimits: Equatable, Sendable {
    /// The most bytes of one file: enough for a film on a small device.
    package var fileBytes = 4 * 1_024 * 1_024 * 1_024
    /// The most names in a listed folder, all of which are in memory meanwhile.
    package var entries = 10_000
    /// The most files of one name that are distinguished by a number.
    ///
    /// Each number is looked up.
    package var numbers = 999

    /// The most bytes of a form in addition to its file.
    static let formBytes = 64 * 1_024

    package init() {}
}
