import COpenSSL
import Synchronization

/// A private key that stays on a PKCS#11 token.
///
/// It cannot be written to a file, and it never prints itself. One thread at a time uses the engine: tokens are slow and sequential
/// anyway, and not every module is thread-safe.
package struct TokenKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle
    package let publicKey: PublicKey

    package var description: String { "‹key on a token›" }

    /// Logs in and finds the key.
    ///
    /// - Parameters:
    ///   - module: the file of the token's PKCS#11 module.
    ///   - pin: not empty and without NUL. The token counts wrong PINs.
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

    /// The public half, which most tokens return without a PIN.
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

    /// Signs the bare text in a PKCS#1 type-1 block: see ``JSPatchSignature``.
    func signBare(_ text: [UInt8]) throws(KeyError) -> [UInt8] {
        try publicKey.kind.checkRSA()
        return try Engine.shared.withLock { (_) throws(KeyError) in try handle.signBare(text) }
    }
}

/// The engine "pkcs11" for one module.
///
/// It stays loaded until the process ends, because its keys point into it.
@safe
private struct Engine: @unchecked Sendable {
    let pointer: OpaquePointer

    /// A mutex, because this module does not import NIO, whose lock box is used elsewhere.
    ///
    /// The thread sanitizer does not need to understand it: its tests have no token.
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
    /// The public half of an engine's key as an ordinary key: verification does not use the engine.
    fileprivate init(copying handle: KeyHandle) throws(KeyError) {
        let bio = MemoryBIO()
        guard unsafe i2d_PUBKEY_bio(bio.pointer, handle.pointer) == 1,
            let copy = unsafe d2i_PUBKEY_bio(bio.pointer, nil)
        else { throw .failed(lastOpenSSLError()) }
        try unsafe self.init(KeyHandle(owning: copy))
    }
}
