/// Derived files that were removed.
package struct RemovedForms: Equatable, Sendable {
    package var files = 0
    package var bytes = 0

    package static let nothing = RemovedForms()

    package init(files: Int = 0, bytes: Int = 0) {
        (self.files, self.bytes) = (files, bytes)
    }
}
