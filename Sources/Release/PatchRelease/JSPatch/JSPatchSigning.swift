import PatchFormat
import PatchCrypto
import PatchTrust

/// The JSPatch forms of a list: signed by a dedicated key, or kept from the base.
struct JSPatchSigning: Sendable {
    struct Signed: Sendable {
        /// One form per row; nil for rows without one.
        let forms: [JSPatchForm?]
        /// The keys of these signatures.
        let keys: JSPatchKeys
        let counts: SignatureCounts
    }

    /// Nil keeps the base's forms and makes no new ones.
    let signer: SigningKey?
    let base: JSPatchKeys

    func sign(_ rows: [ReleaseDraft.Row], progress: ProgressStart) async throws(SigningError) -> Signed {
        let scripts = rows.indices.filter { rows[$0].kind == .script }
        let (signer, base) = (signer, base)
        let keyID = signer.map { JSPatchSignature.keyID(of: $0.publicKey) }
        let kept = scripts.map { index in
            rows[index].knownJSPatch.flatMap { form in
                base.keys[form.keyID] != nil && (keyID == nil || keyID == form.keyID) ? form : nil
            }
        }
        var forms: [JSPatchForm?] = Array(repeating: nil, count: rows.count)
        for (index, form) in zip(scripts, kept) { forms[index] = form }
        let missing = signer == nil ? [] : scripts.filter { forms[$0] == nil }
        if let signer, let keyID {
            let made = try await mapOnAllCores(missing, chunk: 1, progress: progress) { (index) throws(SigningError) in
                JSPatchForm(
                    keyID: keyID,
                    md5: try signer.signJSPatch(.md5, of: rows[index].fingerprint),
                    sha1: try signer.signJSPatch(.sha1, of: rows[index].fingerprint)
                )
            }
            for (index, form) in zip(missing, made) { forms[index] = form }
        }
        let used = Set(forms.compactMap { $0?.keyID })
        let candidates = Array(base.keys.values) + [signer?.publicKey].compactMap(\.self)
        return Signed(
            forms: forms,
            keys: JSPatchKeys(candidates.filter { used.contains(JSPatchSignature.keyID(of: $0)) }),
            counts: SignatureCounts(made: 2 * missing.count, kept: 2 * kept.count { $0 != nil })
        )
    }
}
