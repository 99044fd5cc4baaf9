import DeviceTesting
import NIOConcurrencyHelpers
@testable import PatchChoice
import PatchFormat
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@testable import PatchSync

/// The release side and the server of a random life, and whoever attacks them.
extension RandomLife {
    /// What a channel says now.
    struct PublishedContents {
        /// By the role's version, in list order; what nobody signed is left out.
        var offers: [Int: [Offer]] = [:]
        var rows: [PatchContent: Dial.Row] = [:]
        var parameters: [ParameterName: ParameterValue] = [:]
        /// Every value that was ever published.
        var everyPublished: [[ParameterName: ParameterValue]] = [[:]]
        /// Every version of the channel's role, the last one last.
        var roles: [RoleFile] = []
    }

    struct Offer {
        let patch: SimulatedPatch
        let content: PatchContent
    }

    enum Attack: CaseIterable {
        /// With a stolen role key and no entry key: the list is taken, and no evil entry of it.
        case roleKey
        /// With a stolen entry key and no role key.
        case entryKey
        /// Other bytes under the names of objects and manifests.
        case otherBytes
        /// A timestamp that was the last one once.
        case oldTimestamp
        /// With a stolen online key: a snapshot that names a list that was the last one once.
        case oldList
    }

    mutating func publish(in channel: ChannelName) {
        timestamps.append(world.repository[URLLayout.timestamp])
        var offers: [Offer] = []
        for id in Self.ids where pick(12) > 0 {
            for version in (1...Self.versions).reversed() where pick(3) > 0 {
                let item = Self.item(id, version, channel)
                offers.append(Offer(patch: withRules(item.patch, channel), content: item.content))
                listed.insert(item.content)
            }
        }
        world.repository.publish(offers.map(\.patch), to: channel)
        publishPacks(in: channel)
        note(offers, in: channel)
        signDial()
    }

    /// From every version to every other, but one in three, which an index leads around; one in four holds a wrong byte.
    private func publishPacks(in channel: ChannelName) {
        world.repository.edit { tree in
            let before = Set(tree.files.keys)
            for id in Self.bundles { tree.publishPacks(of: id, in: channel) }
            for path in Set(tree.files.keys).subtracting(before) where path.hasSuffix(".pack") {
                guard var pack = tree.files[path], SHA256Digest(of: pack).bytes[0] % 4 == 0 else { continue }
                pack[pack.count / 2] ^= 1
                tree.files[path] = pack
            }
            // Only to what is offered now: packs to what was offered before are the first of two.
            for id in Self.bundles {
                for path in tree.packs(ofOffered: id, in: channel)
                where SHA256Digest(of: Array(path.utf8)).bytes[0] % 3 == 0 {
                    tree.files[path] = nil
                }
                tree.publishPackIndex(of: id, in: channel)
            }
        }
    }

    private mutating func note(_ offers: [Offer], in channel: ChannelName) {
        let tree = world.repository.tree
        publishedContents[channel, default: PublishedContents()].offers[tree.versions[channel.text] ?? 0] = offers
        if let role = tree.snapshot[channel.text] {
            publishedContents[channel, default: PublishedContents()].roles.append(role)
        }
    }

    private mutating func withRules(_ patch: SimulatedPatch, _ channel: ChannelName) -> SimulatedPatch {
        var patch = patch
        if pick(4) == 0 { patch.rules.rollout = pick(10_000) }
        if pick(6) == 0 { patch.rules.condition = element(["region==eu", "region==us"]) }
        if pick(8) == 0 { patch.rules.dial = .required }
        patch.rules.runAtNextLaunch = pick(6) == 0
        patch.rules.mandatory = pick(6) == 0
        let other = element(Self.ids)
        if pick(3) == 0, other != patch.id.text {
            patch.requires = [
                name(other): [pick(4) + 1, pick(4) + 1].map { Self.content(other, $0, channel).sha256 }
            ]
        }
        return patch
    }

    mutating func turnDial(of channel: ChannelName) {
        var rows: [PatchContent: Dial.Row] = [:]
        for id in Self.ids {
            let content = Self.content(id, pick(Self.versions) + 1, channel)
            rows[content] = Dial.Row(
                patchID: content.patchID,
                sha256: content.sha256,
                rollout: pick(3) == 0 ? pick(10_001) : 10_000,
                paused: pick(3) == 0,
                reason: nil,
                headcount: pick(3) == 0 ? pick(100) : nil
            )
        }
        publishedContents[channel, default: PublishedContents()].rows = rows
        signDial()
    }

    /// Signed anew with every list: what one says is as fresh as the other.
    private func signDial() {
        let publishedContents = publishedContents
        world.repository.edit { tree in
            tree.publishDial(
                publishedContents.map {
                    Dial(app: tree.app, channel: $0, rows: $1.rows.sorted { $0.key < $1.key }.map(\.value))
                }
            )
            tree.publishSnapshot()
        }
    }

    mutating func tellParameters(in channel: ChannelName) {
        let text: ParameterName = name("text")
        let isRemoved = pick(5) == 0
        let value = ParameterValue.text(ExactString("\(channel) \(pick(1_000))"))
        let values = isRemoved ? [:] : [text: value]
        publishedContents[channel, default: PublishedContents()].parameters = values
        publishedContents[channel, default: PublishedContents()].everyPublished.append(values)
        world.repository.setParameters(
            isRemoved ? nil : Dictionary(uniqueKeysWithValues: values.map { ($0.key.text, $0.value) }),
            of: channel
        )
    }

    /// What the server says to a question: anything.
    mutating func prepareAnswer() {
        let (kind, givesPlaces) = (pick(6), pick(2) == 0)
        var choices: [PatchID: DeviceAnswer.Choice] = [:]
        for id in Self.ids where pick(3) == 0 {
            let content = Self.content(id, pick(Self.versions + 2), element(Self.channels))
            choices[name(id)] = pick(4) == 0 ? .hold : .version(content.sha256, isForced: pick(3) == 0)
        }
        world.repository.onQuestion { [given, questions, choices] question in
            questions.withLockedValue { $0 += 1 }
            switch kind {
            case 0: return nil
            case 1: return Array("no answer".utf8)
            default: break
            }
            if givesPlaces {
                given.withLockedValue { given in
                    for place in question.places { given.insert(.init(patchID: place.patchID, sha256: place.sha256)) }
                }
            }
            return DeviceAnswer(
                places: question.places.map { .init(patchID: $0.patchID, sha256: $0.sha256, isGiven: givesPlaces) },
                choices: choices
            ).json.fileBytes
        }
    }

    /// Somebody without the channel's keys has the server for a while, or is between it and the device.
    mutating func attack() async throws -> Event {
        let (channel, kind) = (channel, element(Attack.allCases))
        let honest = publishedContents[channel]?.offers.max { $0.key < $1.key }?.value ?? []
        let paths = Self.ids.flatMap { id in (1...Self.versions).flatMap { Self.item(id, $0, channel).paths } }
        switch kind {
        case .roleKey:
            let evil = Self.evil.map { $0.with { $0.key = .other } } + [Self.moved]
            world.repository.publish(evil + honest.map(\.patch), to: channel)
            note(honest, in: channel)
            signDial()
        case .entryKey:
            world.repository.edit { tree in
                tree.impostors[channel.text] = [.other]
                tree.publishChannel(channel, Self.evil + honest.map(\.patch))
                tree.publishSnapshot()
            }
        case .otherBytes:
            for path in paths { world.repository.fail(path, with: .replaced(Array("evil".utf8))) }
        case .oldTimestamp:
            let old = element(timestamps)
            world.repository.fail(URLLayout.timestamp, with: .replaced(old))
        case .oldList:
            let old = element(publishedContents[channel]?.roles ?? [])
            world.repository.edit { tree in
                tree.snapshot[channel.text] = old
                tree.publishSnapshot()
            }
        }
        try await sync(isFaulty: false, isFresh: kind != .oldTimestamp && kind != .oldList)
        count("\(kind)")
        world.repository.edit { $0.impostors = [:] }
        for path in paths + [URLLayout.timestamp] { world.repository.repair(path) }
        publish(in: channel)
        return .attacked
    }

    private static var evil: [SimulatedPatch] {
        scripts.map { SimulatedPatch.script($0, "9", "evil(\($0));") }
            + bundles.map { SimulatedPatch.bundle($0, "9", ["index.html": "evil(\($0))"]) }
    }

    /// A bundle whose entry is signed as it should be, and whose files were signed for another one.
    private static var moved: SimulatedPatch {
        SimulatedPatch.bundle("web", "8", ["index.html": "evil()"]).with {
            $0.assetsSignedAs.patchID = "docs"
            $0.compatibility = [native(1).name: native(1).compatibility]
        }
    }
}
