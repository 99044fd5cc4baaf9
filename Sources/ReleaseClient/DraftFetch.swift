import NIOHTTP1
package import PatchFormat
import PatchTrust
package import ReleaseFolder

extension ServiceClient {
    /// The version of the draft that waits in a channel to become its next release; nil where none does.
    package func waitingDraft(of channel: ChannelName, in app: AppID) async throws(ServiceError) -> Int? {
        let listing = try await json(.service(.GET, app))
        do throws(FormatError) {
            for (index, value) in try listing.array("drafts", limit: 100_000).enumerated() {
                let row = try Fields(value, of: "answer", at: "drafts[\(index)]")
                guard try row.string("channel") == channel.text, try row.bool("current") else { continue }
                return try row.integer("roleVersion", in: 1...(1 << 53 - 1))
            }
            return nil
        } catch { throw .malformed(error) }
    }

    /// A draft without its objects; nothing in it is verified.
    ///
    /// - Parameter known: lists, manifests and columns that are at hand need not travel.
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
