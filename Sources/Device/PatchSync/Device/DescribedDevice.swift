import PatchChoice
package import PatchFormat
import PatchCrypto
import PatchTrust

/// The facts about a device that its choice of versions depends on, besides list and dial.
///
/// ```
/// {"format":"patchline-facts-v1","deviceId":"…32 hex digits…","appVersion":"2.1","user":"u17","data":{"region":"eu"},
///  "platform":{"name":"ios","compatibility":"…"},"metered":true,"allowance":20000,"installed":[{"patchId":"web","version":"1.4.1"}],
///  "blocks":[…],"transfers":[…],"unfit":[…],"putOff":[…],"places":[…],"consent":"ask","approved":[…]}
/// ```
/// Only `format` and `deviceId` are required. An installed version that is listed is written as its label. Any other one is
/// written in full, as in the device's own state.
package struct DescribedDevice: Equatable, Sendable {
    package static let format = "patchline-facts-v1"

    private static let known: Set<String> = [
        "format", "deviceId", "appVersion", "user", "data", "platform", "metered", "allowance", "limitRate",
        "installed",
        "blocks", "transfers", "unfit", "putOff", "places", "consent", "approved",
    ]

    private enum Installed: Equatable {
        case listed(Label)
        case whole(InstalledPatch)
    }

    private let deviceID: [UInt8]
    private let appVersion: AppVersion?
    private let user: PatchFormat.UserID?
    private let data: [ConditionKey: ConditionValue]
    private let platform: Platform?
    private let installed: [Installed]
    let network: NetworkUse
    private let consent: Consent
    private var history = DeviceState()

    init(_ configuration: DeviceConfiguration, deviceID: [UInt8], state: DeviceState) {
        self.deviceID = deviceID
        appVersion = configuration.appVersion
        user = configuration.user
        data = configuration.data
        platform = configuration.platform
        network = configuration.network
        consent = configuration.policy.consent
        installed = (state.machine.state.choiceBase?.patches ?? []).map { .whole($0) }
        history.machine = SelectionMachine(blocks: state.machine.blocks)
        (history.transfers, history.unfit, history.places) = (state.transfers, state.unfit, state.places)
        (history.putOff, history.approved) = (state.putOff, state.approved)
    }

    package init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.stateFile), of: document)
        try fields.constant("format", Self.format)
        guard let deviceID = Hex.bytes(try fields.string("deviceId")), deviceID.count == 16 else {
            throw fields.broken("deviceId", "must be 32 lowercase hex digits")
        }
        self.deviceID = deviceID
        appVersion = try fields.appVersion()
        user = try fields.userID()
        data = try fields.conditionData()
        platform = try fields.platform()
        network = try NetworkUse(fields)
        consent = try UpdatePolicy(fields).consent
        if let other = fields.object.members.map(\.key.text).first(where: { !Self.known.contains($0) }) {
            throw fields.broken(other, "is not a fact: must be one of \(Self.known.sorted().joined(separator: ", "))")
        }
        var (installed, ids) = ([Installed](), Set<PatchID>())
        let rows = fields.has("installed") ? try fields.array("installed", limit: Limits.patchesInList) : []
        for (index, value) in rows.enumerated() {
            let row = try Fields(value, of: document, at: "installed[\(index)]")
            let label = Label(patchID: try row.name("patchId"), version: try row.name("version"))
            guard ids.insert(label.patchID).inserted else { throw row.broken("patchId", "must occur once") }
            installed.append(row.has("sha256") ? .whole(try InstalledPatch(row)) : .listed(label))
        }
        self.installed = installed
        if fields.has("blocks") {
            let blocks = try fields.array("blocks", limit: Limits.rowsInState)
            history.machine = SelectionMachine(blocks: try TrialBlocks(blocks, of: document))
        }
        try history.readHistory(fields)
    }

    package var json: JSON {
        let rows = installed.map { installed in
            switch installed {
            case .listed(let label):
                JSON.fields([("patchId", .text(label.patchID.text)), ("version", .text(label.version.text))])
            case .whole(let patch): patch.json
            }
        }
        let data = data.sorted { $0.key < $1.key }.map { ($0.key.text, JSON.text($0.value.text)) }
        let facts: [(String, JSON?)] = [
            ("format", .text(Self.format)), ("deviceId", .text(Hex.text(deviceID))),
            ("appVersion", appVersion.map { .text($0.text) }), ("user", user.map { .text($0.text) }),
            ("data", data.isEmpty ? nil : .fields(data)), ("platform", platform?.json),
            ("installed", rows.isEmpty ? nil : .array(rows)),
            ("blocks", history.machine.blocks.blocks.isEmpty ? nil : history.machine.blocks.json),
            ("transfers", history.transfers.json), ("unfit", history.unfit.json), ("putOff", history.putOff.json),
            ("consent", consent == .automatic ? nil : .text(consent.rawValue)), ("approved", history.approved.json),
            ("places", history.places.isEmpty ? nil : .array(history.places.sorted().map { .text($0.hex) })),
        ]
        return .fields(facts + network.members)
    }

    func facts(at time: UTCTime) -> DeviceFacts {
        DeviceFacts(
            deviceID: deviceID,
            appVersion: appVersion,
            user: user,
            data: data,
            platform: platform,
            time: time,
            consent: consent
        )
    }

    /// - Throws: `format` for an installed version that is written as its label and is not listed.
    func state(under entries: [PatchEntry], roleVersion: Int) throws(SyncError) -> DeviceState {
        var patches: [InstalledPatch] = []
        for installed in installed {
            switch installed {
            case .whole(let patch): patches.append(patch)
            case .listed(let label):
                let entry = entries.first { $0.patchID == label.patchID && $0.version == label.version }
                guard let entry else {
                    let rule = "must be listed where only their labels are given; \(label) is not"
                    throw .format(FormatError("facts", field: "installed", rule: rule))
                }
                patches.append(InstalledPatch(entry, column: nil))
            }
        }
        var state = history
        if !patches.isEmpty {
            let selection = Selection(number: 1, roleVersion: roleVersion, patches: patches, entryKeys: .none)
            state.machine = SelectionMachine(state: .settled(selection), blocks: history.machine.blocks)
        }
        return state
    }
}
