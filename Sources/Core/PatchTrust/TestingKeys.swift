package import PatchCrypto
import PatchFormat

/// The key pairs of `Keys/Testing`, whose private halves are public.
package enum TestingKeys {
    /// Set only by the tests.
    package static let permission = "PATCHLINE_ALLOW_TESTING_KEYS"

    /// SHA-256 of the DER SubjectPublicKeyInfo of each.
    private static let material: Set<String> = [
        "8325124ee302bf649e5b3fa915317b13ee56c0e09b045262e0434e1a30a8669c",
        "2e5c8517f7a0a021b5d72d314a9eae7538d81e638fbfa42ddc1d9ba6076aa2ee",
        "f92bd687abeb102047f585dcc3cff18cbfd5f6f47c3383be0f0ff4e774ad1c34",
        "5c809c27b950d72cb5f96c0d1d815805fbe1387bebca8ce02923118c5da298f7",
        "4e6029d455c4f2ecd4d2f4bca4c6ea5e378baf7692067b693096de0b54f7ee5a",
        "f7eeb1dbf4f9d3312e783c186bb107bec4eac2c2f0ddae1acd47c38e6dbb6ae5",
        "c874ce34cf419bb1b9eadb7e444225d6655cb51647b1c66c21b948364de386cd",
        "f5f076e9b4472d0c7528e11ca745ed1f244b7a09bb56d4e5ee38306950df8ff5",
        "05ce49b5dd12022c02c1e9941394d3989f0787a6362858f2086cc4e2bc99ddba",
    ]

    package static func contains(_ key: PublicKey) -> Bool {
        material.contains(key.material.hex)
    }
}

/// The keys that a reader accepts.
package enum KeyAdmission: Sendable {
    case all
    /// All except those of `Keys/Testing`, in roots, delegations and channels.
    case noTestingKeys

    package init(allowingTestingKeys isAllowed: Bool) {
        self = isAllowed ? .all : .noTestingKeys
    }

    /// - Throws: `.testingKey` if one of the keys that may sign for `role` is a testing key.
    package func check(_ keys: RoleKeys, role: String) throws(TrustError) {
        guard self == .noTestingKeys, keys.holdsTestingKey else { return }
        throw .testingKey(role: role)
    }

    /// - Throws: `.testingKey` if an entry key of channel `role` is a testing key.
    package func check(_ keys: EntryKeys, role: String) throws(TrustError) {
        guard self == .noTestingKeys, keys.keys.values.contains(where: TestingKeys.contains) else { return }
        throw .testingKey(role: "entry key of \(role)")
    }

    /// - Throws: `.testingKey` if one of the keys of a top role is a testing key.
    package func check(_ root: RootRole) throws(TrustError) {
        for role in RootRole.roleNames { try check(root.keys(of: role), role: role) }
    }
}

extension RoleKeys {
    /// Whether a testing key may sign for this role.
    package var holdsTestingKey: Bool {
        keys.values.contains { $0.publicKey.map(TestingKeys.contains) ?? false }
    }
}
