import PatchFormat
import Glibc
import CommandKit
import Testing

@Suite("A file with a secret")
struct SecretAccessTests {
    private static let file: UInt32 = S_IFREG

    @Test(
        "that others may read is told of where this user can change that",
        arguments: [
            ("its owner's alone", 0o600, 7, false, SecretAccess.closed), ("sealed", 0o400, 7, false, .closed),
            ("the group's too", 0o640, 7, false, .open(mode: 0o640)),
            ("everybody's", 0o644, 7, false, .open(mode: 0o644)),
            ("to write alone", 0o602, 7, false, .open(mode: 0o602)),
            ("another user's", 0o644, 8, false, .closed),
            ("a mounted secret", 0o444, 7, true, .openAndFixed(mode: 0o444)),
        ] as [(String, UInt32, UInt32, Bool, SecretAccess)]
    )
    func access(_ name: String, mode: UInt32, owner: UInt32, isReadOnly: Bool, _ access: SecretAccess) {
        #expect(SecretAccess(mode: Self.file | mode, owner: owner, user: 7, isReadOnly: isReadOnly) == access)
    }

    @Test func `is no pipe and no terminal, whose modes say nothing`() {
        for kind in [S_IFIFO, S_IFCHR, S_IFSOCK] {
            #expect(SecretAccess(mode: kind | 0o666, owner: 7, user: 7, isReadOnly: false) == .closed)
        }
    }

    @Test func `may be a group's where the caller allows it`() {
        func access(_ mode: UInt32) -> SecretAccess {
            SecretAccess(mode: Self.file | mode, owner: 7, user: 7, isReadOnly: false, refusing: 0o007)
        }
        #expect(access(0o640) == .closed)
        #expect(access(0o644) == .open(mode: 0o644))
    }

    @Test func `is refused as a private key without a passphrase, and the words say how to close it`() throws {
        let file = try TemporaryFile("key")
        unsafe chmod(file.path, 0o644)
        #expect(throws: SecretAccess.refusal(of: file.path, mode: 0o644)) {
            try SecretAccess.check(unencryptedKey: file.path)
        }
        unsafe chmod(file.path, 0o600)
        try SecretAccess.check(unencryptedKey: file.path)
        try SecretAccess.check(unencryptedKey: "/no/such")
        #expect(
            SecretAccess.refusal(of: "/k", mode: 0o644)
                == Failure(
                    "/k is a private key without a passphrase, and other users may read it (mode 0644)",
                    hint: "chmod 600 /k\nif others use this machine, replace the key: they may have read it.",
                    code: .refused
                )
        )
        #expect(
            SecretAccess.warning(of: "/t", mode: 0o640)
                == ["warning: other users may read the secret in /t (mode 0640)", "hint: chmod 600 /t"]
        )
    }
}
