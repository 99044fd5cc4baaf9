import PatchFormat
import CommandKit
import Foundation
import Glibc
import SystemPackage
import Testing

@Suite("A command that root starts")
struct ActingOwnerTests {
    private typealias User = ActingOwner.User
    private static let root = ActingOwner.User(id: 0, group: 0)
    private static let shop = ActingOwner.User(id: 990, group: 980)

    @Test func `acts as the owner of the folder that it works on`() {
        #expect(ActingOwner(startedBy: 0, on: [("/srv/shop", Self.shop)]) == .owner(Self.shop, of: "/srv/shop"))
        let two = [(path: FilePath("/srv/shop"), owner: Self.shop), (path: "/srv/till", owner: Self.shop)]
        #expect(ActingOwner(startedBy: 0, on: two) == .owner(Self.shop, of: "/srv/shop"))
    }

    @Test func `stays root on root's own folder, and without a folder`() {
        #expect(ActingOwner(startedBy: 0, on: [("/srv/shop", Self.root)]) == .unchanged)
        #expect(ActingOwner(startedBy: 0, on: []) == .unchanged)
    }

    @Test func `stays who it is where another user starts it, whosever the folder is`() {
        #expect(ActingOwner(startedBy: 1_000, on: [("/srv/shop", Self.shop)]) == .unchanged)
    }

    @Test func `works on no folders of different users`() {
        let mixed = [(path: FilePath("/srv/own"), owner: Self.root), (path: "/srv/shop", owner: Self.shop)]
        #expect(ActingOwner(startedBy: 0, on: mixed) == .several(["/srv/shop", "/srv/own"]))
        let other = [(path: FilePath("/srv/a"), owner: Self.shop), (path: "/srv/b", owner: User(id: 5, group: 5))]
        #expect(ActingOwner(startedBy: 0, on: other) == .several(["/srv/a", "/srv/b"]))
    }

    @Test func `says why it cannot act as the owner, and what to type`() {
        #expect(
            Failure.ownedByDifferentUsers(["/srv/a", "/srv/b"])
                == Failure(
                    "these folders belong to different users, and one process acts as one of them: /srv/a, /srv/b",
                    hint: "run one process for each user, with the folders that belong to it.",
                    code: .usage
                )
        )
        #expect(
            Failure.cannotAct(
                as: "shop",
                on: "/srv/a",
                reason: "Operation not permitted",
                command: "runuser -u shop -- x"
            )
                == Failure(
                    "/srv/a belongs to shop, and root cannot act as shop here: Operation not permitted",
                    hint: "run it as shop: runuser -u shop -- x",
                    code: .disk
                )
        )
        #expect(
            Failure.cannotReach("/var/lib/private/a", as: "shop", reason: "Permission denied")
                == Failure(
                    "/var/lib/private/a belongs to shop, and shop cannot reach it: Permission denied",
                    hint: "let shop pass through the folders above it, or run the command where the service runs.",
                    code: .disk
                )
        )
        let words = ["/usr/bin/patchsync", "set", "--store", "/srv/my shop"]
        #expect(
            Account(User(id: 0, group: 0)).command(words) == "runuser -u root -- patchsync set --store '/srv/my shop'"
        )
        #expect(
            Account(User(id: 3_999_999, group: 17)).command(words)
                == "setpriv --reuid 3999999 --regid 17 --clear-groups -- patchsync set --store '/srv/my shop'"
        )
    }

    @Test func `says as whom it acts where it may not do something`() {
        let denied = Failure("cannot read /k: permission denied", hint: "look", code: .disk)
        let user = "started by root, this command acts as shop, who owns /srv/a: the user shop needs permission."
        #expect(denied.explained(as: "shop", on: "/srv/a").hint == "look\n\(user)")
        #expect(
            Failure("x: Permission denied").explained(as: "shop", on: "/srv/a")
                == Failure("x: Permission denied", hint: user)
        )
        #expect(Failure("the disk is full").explained(as: "shop", on: "/srv/a") == Failure("the disk is full"))
    }

    @Test(.enabled(if: geteuid() == 0, "a file of another user is root's to make"))
    func `finds the files that belong to another user than their folder, and follows no link`() throws {
        let folder = FilePath("/tmp/patchline-owners-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: folder.string) }
        let inner = folder.appending("channels").appending("production")
        try FileManager.default.createDirectory(atPath: inner.string, withIntermediateDirectories: true)
        let file = inner.appending("state.json")
        _ = FileManager.default.createFile(atPath: file.string, contents: Data())
        try FileManager.default.createSymbolicLink(atPath: folder.appending("etc").string, withDestinationPath: "/etc")
        #expect(ForeignFiles(in: folder) == nil)
        let given = unsafe chown(file.string, 65_534, 65_534)
        #expect(given == 0)
        let found = try #require(ForeignFiles(in: folder))
        #expect(found == ForeignFiles(count: 1, example: file, owner: "root:root"))
        #expect(
            found.finding
                == "1 file of another user than the folder's, such as \(file): the folder's owner may not read or replace it"
        )
        #expect(found.hint(for: folder) == "as root: chown -Rh root:root \(folder)")
    }
}

@Suite("Names that are not UTF-8")
struct UnreadableNamesTests {
    private static let latin = Array("caf".utf8) + [0xE9]

    private static func message(arguments: [[UInt8]] = [], environment: [String: [UInt8]] = [:], folder: [UInt8] = [])
        -> String?
    {
        UnreadableNames(arguments: arguments, environment: environment, folder: folder).failure
            .map { "\($0.message) (\($0.hint ?? "")) \($0.code.rawValue)" }
    }

    @Test func `end a program before it works on a file of another name`() {
        #expect(
            Self.message(arguments: [Array("--store".utf8), Self.latin])
                == "the argument 'caf\u{FFFD}' is not UTF-8 (file names must be UTF-8: rename the file or folder.) 64"
        )
        #expect(
            Self.message(environment: ["PATCHSYNC_STORE": Self.latin])
                == "the variable PATCHSYNC_STORE is not UTF-8 (file names must be UTF-8: rename the file or folder.) 64"
        )
        #expect(
            Self.message(folder: Self.latin)
                == "the name of the working directory is not UTF-8 ("
                + "file names must be UTF-8: start this in another folder, and name paths from / on.) 64"
        )
    }

    @Test func `are none with spaces and other letters`() {
        #expect(Self.message(arguments: [Array("/srv/my café/店".utf8)], folder: Array("/home/zoë".utf8)) == nil)
    }
}
