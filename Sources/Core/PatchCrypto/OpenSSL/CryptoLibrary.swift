import COpenSSL

/// The lifetime of libcrypto in this process.
package enum CryptoLibrary {
    /// Keeps libcrypto usable until the process has ended.
    ///
    /// By default `exit` frees its locks and algorithms. A thread that still computes a digest then crashes, so a server that is stopped
    /// could end with SIGSEGV. Call this before any other use of libcrypto.
    package static func outliveExit() { patchline_outlive_exit() }
}
