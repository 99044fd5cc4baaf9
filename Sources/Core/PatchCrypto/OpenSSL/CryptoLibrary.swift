import COpenSSL

/// The lifetime of libcrypto in this process.
package enum CryptoLibrary {
    /// Keeps libcrypto usable until the process has ended.
    ///
    /// By default `exit` frees its locks and algorithms. A thread that still computes a digest then crashes, so a server that is
    /// stopped could end with SIGSEGV.
    ///
    /// Only the first use of libcrypto in a process decides this, so programs call it at their start. In an app that links the
    /// library, the first digest, key or random bytes call it. Further calls have no effect.
    package static func outliveExit() { patchline_outlive_exit() }
}
