import PatchFormat
import PatchTrust

extension SyncEngine {
    /// A whole document from the first server that has it as it was signed.
    ///
    /// Where none has, what one of them sent: the caller's check names what is wrong with it.
    func document(_ path: String, limit: Int, _ digest: SHA256Digest) async throws(SyncError) -> [UInt8] {
        var attempts = Attempts(deadlines)
        while true {
            var errors: [FetchError] = []
            var wrong: [UInt8]?
            for source in sources.inOrder {
                do throws(FetchError) {
                    let bytes = try await source.fetcher.bytes(path, limit: limit, deadline: deadlines.document)
                    if SHA256Digest(of: bytes) == digest { return bytes }
                    wrong = bytes
                    let lie = SyncError.trust(.wrongDigest(name: path, algorithm: "sha256"))
                    sources.note(MirrorFault(server: source.name, wrong: .lied(lie)))
                } catch {
                    if error == .cancelled { throw .fetch(error) }
                    if error.isNetwork { sources.putLast(source) }
                    errors.append(error)
                }
            }
            if let wrong { return wrong }
            let next = attempts.failed(errors, progress: false, random: pauses.random())
            guard case .again(let wait) = next else { throw .fetch(errors.first { !$0.isNetwork } ?? errors[0]) }
            if let error = await pause(wait, because: .fetch(errors[0])) { throw error }
        }
    }
}
