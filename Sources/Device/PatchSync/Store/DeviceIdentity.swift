import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The machine of a store, as a digest that reveals nothing about the machine.
package struct MachineIdentity: Hashable, Sendable {
    let digest: SHA256Digest

    /// - Parameter id: A name of the machine, such as its machine-id or serial number.
    package init(_ id: String) {
        digest = SHA256Digest(of: Array("patchline-machine-v1\n\(id)".utf8))
    }

    fileprivate init(digest: SHA256Digest) {
        self.digest = digest
    }

    /// The identity from machine-id(5), or nil if the machine has none.
    package static func ofThisMachine(_ files: any FileOperations = DiskFiles()) -> MachineIdentity? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard let bytes = try? files.read(FilePath(path), limit: 4_096) else { continue }
            let id = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            if Hex.bytes(id)?.count == 16 { return MachineIdentity(id) }
        }
        return nil
    }
}

/// `device.json`: the random identity that assigns this device to cohorts, and the machine that it was drawn for.
package struct DeviceIdentity: Equatable, Sendable {
    package static let format = "patchline-device-v1"

    /// 16 random bytes, never sent.
    package let deviceID: [UInt8]
    /// Nil if the machine has no identity, or if the store predates this member.
    package let machine: MachineIdentity?
    /// Whether it was drawn where no machine had an identity, for example while building an image.
    ///
    /// The number of copies of such a store is unknown.
    let isOfNoMachine: Bool

    package init(deviceID: [UInt8], machine: MachineIdentity?) {
        self.deviceID = deviceID
        self.machine = machine
        isOfNoMachine = machine == nil
    }

    /// The identity of the device on `machine`: unchanged on the same or an unknown machine.
    ///
    /// A store that was copied to another machine gets a new identity, so that the two devices share no cohorts.
    ///
    /// Pure.
    package func on(_ machine: MachineIdentity?, random: () -> [UInt8]) -> DeviceIdentity {
        guard let machine, machine != self.machine else { return self }
        // A store that predates the record of machines was created on the machine that it is on.
        let isOlder = self.machine == nil && !isOfNoMachine
        return DeviceIdentity(deviceID: isOlder ? deviceID : random(), machine: machine)
    }

    var json: JSON {
        .fields([
            ("format", .text(Self.format)), ("deviceId", .text(Hex.text(deviceID))),
            ("machine", machine.map { .text($0.digest.hex) }), ("ofNoMachine", isOfNoMachine ? .bool(true) : nil),
        ])
    }

    init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let fields = try Fields(try JSON.document(bytes, named: document, limit: Limits.stateFile), of: document)
        guard let id = Hex.bytes(try fields.string("deviceId")), id.count == 16 else {
            throw fields.broken("deviceId", "must be 32 lowercase hex digits")
        }
        deviceID = id
        machine = fields.has("machine") ? MachineIdentity(digest: try fields.digest("machine")) : nil
        isOfNoMachine = try fields.bool("ofNoMachine", default: false)
    }
}
