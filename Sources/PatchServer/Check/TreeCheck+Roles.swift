import PatchFormat
import PatchTrust

extension TreeCheck {
    /// What of the published state verifies.
    struct State {
        struct Channel {
            let name: ChannelName
            let role: TargetsRole
            let envelope: Envelope
        }

        var channels: [(name: ChannelName, value: Channel)] = []
        var dial: TargetsRole?
        let snapshot: SnapshotRole
        let dropped: [ChannelName: Int]
    }

    /// Every role that the newest timestamp leads to; nil when nothing below it can be judged.
    mutating func checkRoles() -> State? {
        guard var trusted = checkRoots() else { return nil }
        guard let timestamp = bytes(.timestamp, limit: Limits.timestamp) else { return nil }
        guard judged(.timestamp, { () throws(TrustError) in _ = try trusted.updateTimestamp(timestamp) }) else {
            return nil
        }
        guard let named = trusted.timestamp?.snapshot else { return nil }
        let file = TreePath.File.role("snapshot", version: named.version)
        guard let bytes = bytes(file, limit: Limits.snapshot, sha256: named.sha256) else { return nil }
        let holds = judged(file, sha256: named.sha256) { () throws(TrustError) in
            try trusted.updateSnapshot(bytes)
            try trusted.checkSnapshotIsCurrent()
        }
        guard holds, let snapshot = trusted.snapshot else { return nil }
        report.counts.roles += 2
        guard check("targets", by: "root", &trusted) != nil else { return nil }
        var state = State(snapshot: snapshot, dropped: (try? repository.labels().dropped) ?? [:])
        for name in snapshot.files.keys.sorted() where name.text != "targets" {
            guard let (role, envelope) = check(name.text, by: "targets", &trusted) else { continue }
            if name.text == "dial" {
                state.dial = role
            } else if let channel = ChannelName(name.text) {
                state.channels.append((channel, State.Channel(name: channel, role: role, envelope: envelope)))
            }
        }
        return state
    }

    private mutating func checkRoots() -> TrustedMetadata? {
        do throws(ServerError) {
            let chain = try RootChain(of: repository.tree)
            for link in chain.links { note(.root(version: link.version)) }
            report.counts.roles += chain.links.count
            return chain.newest.trusted
        } catch {
            let anchor = try? repository.tree.read(repository.tree.anchorFile, limit: Limits.root)
            guard let anchor, let root = try? RootRole(Envelope(anchor, role: "root", limit: Limits.root)) else {
                report.faults.append(
                    TreeFault("apps/\(repository.app)/root.json", .record, "\(error)")
                )
                return nil
            }
            return checkRoots(from: anchor, version: root.header.version)
        }
    }

    /// Names the root that does not hold; what comes below is judged by the last that does.
    private mutating func checkRoots(from anchor: [UInt8], version: Int) -> TrustedMetadata? {
        let first = TreePath.File.root(version: version)
        let digest = SHA256Digest(of: anchor)
        if let standing = bytes(first, limit: Limits.root, sha256: digest), standing != anchor {
            add(first, .altered, "it is not the root of trust that this server was given", sha256: digest)
        }
        guard var trusted = try? TrustedMetadata(trustedRoot: anchor, at: ReferenceTime.never) else {
            report.faults.append(
                TreeFault("apps/\(repository.app)/root.json", .record, "it is not signed by its own keys")
            )
            return nil
        }
        var next = version + 1
        while listing.files[.root(version: next)] != nil {
            let file = TreePath.File.root(version: next)
            guard let bytes = bytes(file, limit: Limits.root) else { return nil }
            guard judged(file, { () throws(TrustError) in try trusted.updateRoot(bytes) }) else { return nil }
            next += 1
        }
        return trusted
    }

    private mutating func check(
        _ name: String,
        by delegator: String,
        _ trusted: inout TrustedMetadata
    ) -> (TargetsRole, Envelope)? {
        guard let named = try? trusted.file(of: name) else {
            add(
                .role("snapshot", version: trusted.snapshot?.header.version ?? 0),
                .untrusted,
                "it does not list \(name)"
            )
            return nil
        }
        let file = TreePath.File.role(name, version: named.version)
        guard let bytes = bytes(file, limit: Limits.targetsRole, sha256: named.sha256) else { return nil }
        let holds = judged(file, sha256: named.sha256) { () throws(TrustError) in
            try trusted.updateTargets(bytes, role: name, delegator: delegator)
        }
        guard holds, let role = trusted.targets[ExactString(name)],
            let envelope = try? Envelope(bytes, role: name, limit: Limits.targetsRole)
        else { return nil }
        report.counts.roles += 1
        return (role, envelope)
    }

    private mutating func judged(
        _ file: TreePath.File,
        sha256: SHA256Digest? = nil,
        _ rule: () throws(TrustError) -> Void
    ) -> Bool {
        do throws(TrustError) {
            try rule()
            return true
        } catch {
            let rule = TreeFault.Rule(error)
            add(file, rule, "\(error)", sha256: rule == .untrusted ? nil : sha256)
            return false
        }
    }
}
