import Fuzzing
import PatchCrypto
import PatchTrust

/// A key that is read can be written, and is the same key then; whatever else comes in ends in an error.
func attempt(_ bytes: [UInt8]) {
    if bytes.count == 32, let key = try? PublicKey(ed25519: bytes) { check(key) }
    // libcrypto takes most of a millisecond to find that this is no key; not for what cannot be one.
    guard let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN "), text.contains("-----END ")
    else { return }
    if text.hasPrefix("-----BEGIN PUBLIC KEY-----") {
        attemptPublic(text)
    } else {
        attemptPrivate(bytes)
    }
}

private func attemptPublic(_ text: String) {
    guard let key = try? PublicKey(pem: text) else { return }
    check(key)
    let written = key.pem
    guard written != text else { return }
    guard let again = try? PublicKey(pem: written) else { fatalError("broken: a key that was written is refused") }
    require(again == key && again.kind == key.kind, "a public key is the same after it was written")
    require(again.pem == written, "a public key has one spelling")
}

private func attemptPrivate(_ bytes: [UInt8]) {
    guard let key = try? PrivateKey(pem: bytes, passphrase: "a") else { return }
    check(key.publicKey)
    guard let written = try? key.unencryptedPEM(), written != bytes else { return }
    guard let again = try? PrivateKey(pem: written, passphrase: nil) else {
        fatalError("broken: a private key that was written is refused")
    }
    require(again.publicKey == key.publicKey, "a private key is the same after it was written")
}

/// A key answers whether a signature holds; none of these does.
private func check(_ key: PublicKey) {
    for scheme in [SignatureScheme.rsaPSS, .rsaPKCS1v15, .ed25519, .ecdsaP256] {
        let holds = key.verifies([UInt8](repeating: 1, count: 256), over: [1], scheme: scheme)
        require(!holds, "no made-up signature holds")
    }
    switch key.kind {
    case .rsa(let bits): require(bits >= 2_048, "an RSA key has at least 2,048 bits")
    case .ed25519, .p256: break
    }
}
