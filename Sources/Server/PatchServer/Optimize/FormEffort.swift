/// Which derived files are made before devices see a release.
package enum FormEffort: Sendable {
    /// One fast zstd form of each file. An ``Optimization`` makes all others later.
    case fast
    /// Every form and pack.
    case best
}
