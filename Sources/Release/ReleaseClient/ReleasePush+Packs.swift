import NIOConcurrencyHelpers
import NIOHTTP1
import PatchDelta
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

extension ReleasePush {
    /// A server applies a pack while it arrives.
    private static let packDeadline = Duration.seconds(600)

    /// Sends packs from versions that the server has.
    ///
    /// If a pack fails, its parts are sent later.
    ///
    /// - Returns: the remaining needs.
    func sendPacks(_ state: UploadState, counting sent: inout PushReport.Sent) async throws(ServiceError) -> UploadState
    {
        guard let base, !state.bases.isEmpty else { return state }
        let packs = PushPack.all(for: state.bases, from: base, to: release, limit: packLimit, files: files)
        guard !packs.isEmpty else { return state }
        // The server needs the list first: it determines the manifests, and these their objects.
        let list = TargetPath.patchList(release.header.channel).text
        let first = UploadState(state.id, needs: state.needs.filter { $0.name == list }, coding: state.coding)
        if !first.needs.isEmpty { try await send(first, counting: &sent) }
        for pack in packs {
            guard let body = await pack.body() else { continue }
            do throws(ServiceError) {
                try await send(pack.pack, body, to: state.id)
                sent.parts += 1
                sent.packs += 1
                sent.bytes += body.bytes.count
            } catch .cancelled {
                throw .cancelled
            } catch { observe(.packFailed("\(error)")) }
        }
        return try await show(state.id)
    }

    private func send(_ pack: BasePack, _ body: PushPack.Body, to id: String) async throws(ServiceError) {
        observe(.began(parts: 1, bytes: body.bytes.count))
        let part = PartBody(
            name: pack.name(of: .pack),
            source: .bytes(body.bytes),
            size: body.bytes.count,
            offset: 0,
            coding: nil,
            files: files,
            observe: { [travelled, observe] count, bytes in
                travelled.withLockedValue { $0 += bytes }
                observe(.sent(bytes: count))
            }
        )
        var request = ServiceRequest.service(
            .POST,
            release.header.app,
            "/uploads/\(id)/packs/\(pack.manifest.hex)/\(pack.base.hex)",
            body: .part(part)
        )
        request.headers = [("pack-length", "\(body.pack)")]
        request.deadline = Self.packDeadline + .seconds(body.bytes.count / 10_000)
        do throws(ServiceError) { _ = try await client.jsonOnce(request) } catch {
            observe(.failed)
            throw error
        }
        observe(.ended)
    }
}
