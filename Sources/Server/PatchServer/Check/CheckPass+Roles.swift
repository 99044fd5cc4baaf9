import PatchFormat
import PatchCrypto
import PatchTrust

extension CheckPass {
    /// The part of the published state that verifies.
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
        let retired: Set<ChannelName>
    }

    /// Checks every role that the newest timestamp leads to.
    ///
    /// Returns nil if none below it can be judged.
    mutating func checkRoles() -> State? {
        guard let root = checkRoots(),
            var repository = walked(MetadataWalk(under: root, .noRole(because: .judgesBytes)))
        else { return nil }
        var state = State(
            snapshot: repository.snapshot,
            dropped: (try? self.repository.labels().dropped) ?? [:],
            retired: Set(repository.targets.retired)
        )
        for name in repository.snapshot.files.keys.sorted()
        where name.text != "targets" && !repository.targets.hasRetired(name.text) {
            guard let walked = walked(MetadataWalk(in: repository, to: name.text, by: "targets")) else { continue }
            repository = walked
            guard let role = walked.role(name.text), let envelope = walked.envelope(of: name.text) else { continue }
            if name.text == "dial" {
                state.dial = role
            } else if let channel = ChannelName(name.text) {
                state.channels.append((channel, State.Channel(name: channel, role: role, envelope: envelope)))
            }
        }
        checkListsDial(repository)
        return state
    }

    /// A tree without a dial is not valid for a server (``PublishedState``), even if all its roles verify.
    private mutating func checkListsDial(_ repository: TrustedRepository) {
        guard repository.snapshot.files[ExactString("dial")] == nil else { return }
        if repository.targets.delegation(to: "dial") == nil {
            let file = TreePath.File.role("targets", version: repository.targets.header.version)
            add(file, .notDelegated(role: "dial"), sha256: nil)
        } else {
            let file = TreePath.File.role("snapshot", version: repository.snapshot.header.version)
            add(file, .untrusted, SignedFault.unlisted("dial"))
        }
    }

    /// Answers a walk from the tree.
    ///
    /// If the walk fails, reports the file at which it ended and returns nil.
    private mutating func walked(_ start: MetadataWalk) -> TrustedRepository? {
        var walk = start
        var current: TreePath.File?
        var named: SHA256Digest?
        do throws(TrustError) {
            while true {
                switch try walk.next() {
                case .done(let repository): return repository
                case .recall: try walk.recall(nil)
                case .fetch(let request):
                    (current, named) = (TreePath.File(request), request.sha256)
                    guard let bytes = bytes(TreePath.File(request), limit: request.limit, sha256: request.sha256) else {
                        return nil
                    }
                    _ = try walk.take(bytes)
                    report.counts.roles += 1
                }
            }
        } catch .notInSnapshot(let role) {
            if let current { add(current, .untrusted, SignedFault.unlisted(role)) }
        } catch {
            if let current { add(current, error, sha256: named) }
        }
        return nil
    }

    private mutating func checkRoots() -> TrustedRoot? {
        do throws(ServerError) {
            let chain = try RootChain(of: repository.tree)
            for root in chain.roots { note(.root(version: root.version)) }
            report.counts.roles += chain.roots.count
            return chain.newest
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

    /// Reports the first root that does not verify.
    ///
    /// Roles are then judged by the last one that does.
    private mutating func checkRoots(from anchor: [UInt8], version: Int) -> TrustedRoot? {
        let first = TreePath.File.root(version: version)
        let digest = SHA256Digest(of: anchor)
        if let existing = bytes(first, limit: Limits.root, sha256: digest), existing != anchor {
            add(first, .altered, "it is not the root of trust of this server", sha256: digest)
        }
        guard var newest = try? TrustedRoot(anchor: anchor) else {
            report.faults.append(
                TreeFault("apps/\(repository.app)/root.json", .record, "it is not signed by its own keys")
            )
            return nil
        }
        var next = version + 1
        while listing.files[.root(version: next)] != nil {
            let file = TreePath.File.root(version: next)
            guard let bytes = bytes(file, limit: Limits.root) else { return nil }
            do throws(TrustError) { newest = try newest.following(bytes) } catch {
                add(file, error, sha256: nil)
                return nil
            }
            next += 1
        }
        return newest
    }

    private mutating func add(_ file: TreePath.File, _ error: TrustError, sha256: SHA256Digest?) {
        let rule = TreeFault.Rule(error)
        add(file, rule, "\(error)", sha256: rule == .untrusted ? nil : sha256)
    }
}
