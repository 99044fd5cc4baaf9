import COpenSSL
import Synchronization

/// A private key that stays on a PKCS#11 token.
///
/// It cannot be written to a file, and it never prints itself. The engine is used by one thread at a time: tokens are
/// slow and work in sequence anyway, and not every module is made for threads.
package struct TokenKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle
    package let publicKey: PublicKey

    package var description: String { "‹key on a token›" }

    /// Logs in and finds the key.
    ///
    /// - Parameters:
    ///   - module: the file of the token's PKCS#11 module.
    ///   - pin: not empty, no NUL; the token counts wrong ones.
    package init(_ uri: TokenURI, module: String, pin: String) throws(TokenError) {
        let found = try Engine.shared.withLock { (engines) throws(TokenError) in
            let engine = try Engine.of(module, in: &engines)
            let key = unsafe patchline_token_private_key(engine.pointer, uri.path, pin)
            guard let key = unsafe key else { throw Engine.reason(uri, module: module) }
            let handle = unsafe KeyHandle(owning: key)
            do throws(KeyError) { return (handle, try PublicKey(copying: handle)) } catch { throw .key(error) }
        }
        (handle, publicKey) = found
    }

    /// The public half alone, which most tokens show without a PIN.
    package static func publicKey(_ uri: TokenURI, module: String) throws(TokenError) -> PublicKey {
        try Engine.shared.withLock { (engines) throws(TokenError) in
            let engine = try Engine.of(module, in: &engines)
            let key = unsafe patchline_token_public_key(engine.pointer, uri.path)
            guard let key = unsafe key else { throw Engine.reason(uri, module: module) }
            do throws(KeyError) { return try unsafe PublicKey(copying: KeyHandle(owning: key)) } catch {
                throw .key(error)
            }
        }
    }

    package func sign(_ message: [UInt8], scheme: SignatureScheme) throws(KeyError) -> [UInt8] {
        try scheme.check(publicKey.kind)
        return try Engine.shared.withLock { (_) throws(KeyError) in try handle.sign(message, scheme: scheme) }
    }

    /// A PKCS#1 type-1 block over the bare text: see ``JSPatchSignature``.
    func signBare(_ text: [UInt8]) throws(KeyError) -> [UInt8] {
        try publicKey.kind.checkRSA()
        return try Engine.shared.withLock { (_) throws(KeyError) in try handle.signBare(text) }
    }
}

/// The engine "pkcs11" for one module; once loaded it stays until the process ends, as its keys point into it.
@safe
private struct Engine: @unchecked Sendable {
    let pointer: OpaquePointer

    /// This module knows no NIO, whose box is the lock elsewhere; the sanitizer has no token to look at.
    static let shared = Mutex<[String: Engine]>([:])

    static func of(_ module: String, in engines: inout [String: Engine]) throws(TokenError) -> Engine {
        if let engine = engines[module] { return engine }
        guard unsafe patchline_token_is_module(module) == 1 else { throw .noModule(module) }
        guard let pointer = unsafe patchline_token_engine(module) else {
            _ = lastOpenSSLError()
            throw .noEngine
        }
        let engine = unsafe Engine(pointer: pointer)
        engines[module] = engine
        return engine
    }

    /// Why a key was not loaded, from libcrypto's error queue, which is empty afterwards.
    static func reason(_ uri: TokenURI, module: String) -> TokenError {
        var last = "unknown"
        var pin: TokenError?
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            let library = unsafe ERR_lib_error_string(code).map { unsafe String(cString: $0) }
            if let text = unsafe ERR_reason_error_string(code) { last = unsafe String(cString: text) }
            guard library == "PKCS#11 module" else { continue }
            switch code & 0x7F_FFFF {
            case 0xA0, 0xA1, 0xA2: pin = .wrongPIN
            case 0xA4: pin = .lockedPIN
            default: pin = pin ?? .failed(last)
            }
        }
        if let pin { return pin }
        let labels = labels(module)
        if let token = uri.token, !labels.contains(token) { return .noToken(token, present: labels) }
        return .noKey
    }

    private static func labels(_ module: String) -> [String] {
        var bytes = [CChar](repeating: 0, count: 32 * 64)
        let count = Int(unsafe patchline_token_labels(module, &bytes, 64))
        return (0..<count).map { index in
            let label = bytes[index * 32..<(index + 1) * 32].map { UInt8(bitPattern: $0) }
            return String(decoding: label.prefix { $0 != 0 }, as: UTF8.self).trimmingSuffix(" ")
        }.filter { !$0.isEmpty }.sorted()
    }
}

extension String {
    fileprivate func trimmingSuffix(_ character: Character) -> String {
        var text = self
        while text.last == character { text.removeLast() }
        return text
    }
}

extension PublicKey {
    /// The public half of an engine's key as an ordinary key: the engine has no part in verifying.
    fileprivate init(copying handle: KeyHandle) throws(KeyError) {
        let bio = MemoryBIO()
        guard unsafe i2d_PUBKEY_bio(bio.pointer, handle.pointer) == 1,
            let copy = unsafe d2i_PUBKEY_bio(bio.pointer, nil)
        else { throw .failed(lastOpenSSLError()) }
        try unsafe self.init(KeyHandle(owning: copy))
    }
}
