import NIOHTTP1
package import PatchFormat
import PatchCrypto
import PatchTrust
package import ReleaseFolder

extension ServiceClient {
    /// Downloads a draft without its objects.
    ///
    /// Nothing in it is verified.
    ///
    /// - Parameter known: Lists, manifests and columns that are available locally, and are not downloaded.
    package func draft(
        of channel: ChannelName,
        version: Int,
        in app: AppID,
        known: [[UInt8]]
    ) async throws(ServiceError) -> SignedRelease {
        let path = "/channels/\(channel)/drafts/\(version)"
        var request = ServiceRequest.service(.GET, app, path)
        request.limit = Limits.targetsRole + Limits.releaseHeader + 1_024
        let answer = try await json(request)
        let (header, role, parsed): (ReleaseHeader, Envelope, TargetsRole)
        do throws(FormatError) {
            header = try ReleaseHeader(try answer.fields("release"))
            role = try Envelope(.object(try answer.fields("role").object), role: channel.text)
            parsed = try TargetsRole(role, name: channel.text)
            guard header.app == app, header.channel == channel, header.roleVersion == version else {
                throw answer.broken("release", AnswerRule.draft)
            }
        } catch { throw .malformed(error) }
        let atHand = Dictionary(known.map { (SHA256Digest(of: $0), $0) }) { first, _ in first }
        var targets: [TargetPath: [UInt8]] = [:]
        for (name, file) in parsed.targets.sorted(by: { $0.key < $1.key }) {
            guard let target = TargetPath(name.text), let sha256 = file.sha256 else {
                throw .malformed(FormatError("role", field: "signed.targets.\(name)", rule: TargetPath.rule))
            }
            if let bytes = atHand[sha256] {
                targets[target] = bytes
                continue
            }
            var request = ServiceRequest.service(.GET, app, "\(path)/targets/\(sha256.hex)")
            request.limit = min(file.length, Limits.manifest)
            let bytes = try await self.bytes(request)
            do throws(TrustError) { try file.check(bytes, name: target.text) } catch { throw .release(.trust(error)) }
            targets[target] = bytes
        }
        return SignedRelease(header: header.withoutObjects, role: role, targets: targets, objects: [:])
    }
}
