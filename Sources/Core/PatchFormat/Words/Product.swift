/// The name and the version of the programs and the library.
package enum Product {
    /// Semantic versioning 2.0.0.
    package static let version = "0.1.0"
}
