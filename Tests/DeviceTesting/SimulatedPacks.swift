import PatchDelta
package import PatchFormat
import PatchCrypto
import PatchTrust

/// A bundle's manifest and column as a simulated channel offers them.
package struct PublishedBundle: Sendable {
    package let manifest: [UInt8]
    package let column: [UInt8]
    package var digest: SHA256Digest { SHA256Digest(of: manifest) }
}

extension SimulatedTree {
    /// Of every version that was ever published, by version.
    package func bundles(
        of id: String,
        in channel: ChannelName = SimulatedRepository.production
    ) -> [String: PublishedBundle] {
        let prefix = "targets/\(channel)/\(id)/"
        var found: [String: PublishedBundle] = [:]
        for (path, manifest) in files where path.hasPrefix(prefix) && path.hasSuffix(".manifest.json") {
            let version = String(path.dropFirst(prefix.count).prefix { $0 != "/" })
            let columns = files.filter {
                $0.key.hasPrefix("\(prefix)\(version)/") && $0.key.hasSuffix(".manifest.sigs")
            }
            guard let column = columns.first?.value else { continue }
            found[version] = PublishedBundle(manifest: manifest, column: column)
        }
        return found
    }

    /// What a server makes that knows both versions.
    ///
    /// - Returns: nil where it can make none, as of a manifest that nobody can read.
    package func pack(from base: PublishedBundle, to new: PublishedBundle) -> (pack: [UInt8], signatures: [UInt8]?)? {
        guard let old = try? PackManifest(base.manifest), let manifest = try? PackManifest(new.manifest) else {
            return nil
        }
        let objects = PackObjects { [files] digest in
            files[URLLayout.object(digest)].map(BytesInMemory.init)
        }
        var groups: [UInt8] = []
        let maker = try? PackMaker(
            base: old,
            new: manifest,
            manifest: new.digest,
            objects: objects,
            effort: .quick
        )
        guard let (head, _) = try? maker?.make({ groups += $0 }) else { return nil }
        let signatures = PackSignatures.bytes(from: old, column: base.column, to: manifest, column: new.column)
        return (head + groups, signatures)
    }

    /// As newer servers do: of each pack that has signatures, both in one.
    package mutating func publishSignedPacks() {
        for (path, signatures) in files where path.hasPrefix("packs/") && path.hasSuffix(".sigs") {
            let stem = path.dropLast(BasePack.Part.signatures.rawValue.count)
            guard let pack = files["\(stem)\(BasePack.Part.pack.rawValue)"] else { continue }
            files["\(stem)\(BasePack.Part.signed.rawValue)"] = BasePack.front(signatures) + pack
        }
    }

    /// Packs to what the channel offers now from every version of it that was published.
    package mutating func publishPacks(of id: String, in channel: ChannelName = SimulatedRepository.production) {
        let bundles = bundles(of: id, in: channel)
        for offer in offers[channel] ?? [] where offer.id.text == id {
            guard let new = bundles[offer.version.text] else { continue }
            for (_, base) in bundles where base.digest != new.digest {
                let name = BasePack(manifest: new.digest, base: base.digest)
                guard files[URLLayout.pack(name, .pack)] == nil, let made = pack(from: base, to: new) else { continue }
                files[URLLayout.pack(name, .pack)] = made.pack
                files[URLLayout.pack(name, .signatures)] = made.signatures
            }
        }
    }
}

extension SimulatedTree {
    /// What a server says of all packs that are published: those to what the channel offers now, and those to their bases.
    package mutating func publishPackIndex(
        of id: String,
        in channel: ChannelName = SimulatedRepository.production,
        editing edit: (inout PackIndex) -> Void = { _ in }
    ) {
        let bundles = bundles(of: id, in: channel).values.sorted { $0.digest < $1.digest }
        for offer in offers[channel] ?? [] where offer.id.text == id {
            guard let new = self.bundles(of: id, in: channel)[offer.version.text] else { continue }
            var index = PackIndex(
                whole: files[URLLayout.fullPack(of: new.digest)]?.count,
                from: packs(to: new, from: bundles).map { pack, base in
                    PackIndex.Row(
                        pack,
                        manifest: base.manifest.count,
                        column: PackIndex.Column(sha256: SHA256Digest(of: base.column), size: base.column.count),
                        from: packs(to: base, from: bundles).map(\.0).filter { $0.base != new.digest }
                    )
                }
            )
            edit(&index)
            files[URLLayout.packIndex(of: new.digest)] = index.json.fileBytes
        }
    }

    /// To what the channel offers now, from everywhere.
    package func packs(ofOffered id: String, in channel: ChannelName) -> [String] {
        let bundles = bundles(of: id, in: channel)
        let offered = (offers[channel] ?? []).filter { $0.id.text == id }.compactMap { bundles[$0.version.text] }
        return offered.flatMap { new in
            files.keys.filter { $0.hasPrefix("packs/\(new.digest.hex)/from-") && $0.hasSuffix(".pack") }.sorted()
        }
    }

    private func packs(
        to new: PublishedBundle,
        from bundles: [PublishedBundle]
    ) -> [(PackIndex.Pack, PublishedBundle)] {
        bundles.compactMap { base in
            let name = BasePack(manifest: new.digest, base: base.digest)
            guard let pack = files[URLLayout.pack(name, .pack)] else { return nil }
            let signatures = files[URLLayout.pack(name, .signatures)]?.count
            return (PackIndex.Pack(base: base.digest, size: pack.count, signatures: signatures), base)
        }
    }
}
