/// What these programs and this library are called and numbered by, in one place.
package enum Product {
    /// Semantic versioning 2.0.0.
    package static let version = "0.1.0"
}
