/// How much is taken and told at a time.
package struct UploaderLimits: Equatable, Sendable {
    /// Bytes of one file: what a film on a small device comes to.
    package var fileBytes = 4 * 1_024 * 1_024 * 1_024
    /// Names in a folder that is listed; all of them are in memory meanwhile.
    package var entries = 10_000
    /// How many files of one name are told apart by a number, each of which is looked for.
    package var numbers = 999

    /// Bytes of a form besides its file.
    static let formBytes = 64 * 1_024

    package init() {}
}
