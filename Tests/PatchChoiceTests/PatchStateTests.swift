@testable import PatchChoice
import PatchFormat
import PatchCrypto
import PatchTrust
import Testing

@Suite("The state of a patch")
struct PatchStateTests {
    /// P11, by P4's rule.
    @Test(
        arguments: [
            (Array("a();".utf8), .success), ([], .success), ([0xC3, 0x28], .unknownError), (nil, .fileNotExist),
        ] as [([UInt8]?, PatchState)]
    )
    func `of a test script needs no list and no store`(bytes: [UInt8]?, state: PatchState) {
        #expect(PatchState(testScript: bytes) == state)
    }

    @Test(arguments: [
        (PatchState.unknownError, 0, "UnKnownError"), (.unInstall, 1, "UnInstall"), (.success, 2, "Success"),
        (.fileNotExist, 3, "FileNotExist"), (.fileNotMatch, 4, "FileNotMatch"), (.update, 5, "Update"),
        (.add, 6, "Add"),
    ])
    func `keeps the raw values and names of the sample`(state: PatchState, raw: Int, name: String) {
        #expect(state.rawValue == raw)
        #expect(state.name == name)
    }

    @Test func `is one of seven`() {
        #expect(PatchState.allCases.map(\.rawValue).sorted() == Array(0...6))
    }

    /// What the device has, beside what it is to have.
    enum Installed: CaseIterable {
        case nothing, same, otherBytes, otherURL

        static let wanted = ContentAddress(sha256: SHA256Digest(of: [1]), url: "objects/1")

        var address: ContentAddress? {
            switch self {
            case .nothing: nil
            case .same: Self.wanted
            case .otherBytes: ContentAddress(sha256: SHA256Digest(of: [2]), url: "objects/1")
            case .otherURL: ContentAddress(sha256: SHA256Digest(of: [1]), url: "objects/2")
            }
        }
    }

    /// Every combination of (on disk, installed) and what it is while it does not run, and while it does.
    private static let table: [(PatchOnDisk, Installed, notRunning: PatchState, running: PatchState)] = [
        (.absent, .nothing, .add, .add),
        (.absent, .same, .fileNotExist, .fileNotExist),
        (.absent, .otherBytes, .update, .update),
        (.absent, .otherURL, .update, .update),
        (.missing("f"), .nothing, .fileNotExist, .fileNotExist),
        (.missing("f"), .same, .fileNotExist, .fileNotExist),
        (.missing("f"), .otherBytes, .fileNotExist, .fileNotExist),
        (.missing("f"), .otherURL, .fileNotExist, .fileNotExist),
        (.damaged("f", field: "md5"), .nothing, .fileNotMatch, .fileNotMatch),
        (.damaged("f", field: "md5"), .same, .fileNotMatch, .fileNotMatch),
        (.damaged("f", field: "md5"), .otherBytes, .fileNotMatch, .fileNotMatch),
        (.damaged("f", field: "md5"), .otherURL, .fileNotMatch, .fileNotMatch),
        (.unreadable("f"), .nothing, .unknownError, .unknownError),
        (.unreadable("f"), .same, .unknownError, .unknownError),
        (.unreadable("f"), .otherBytes, .unknownError, .unknownError),
        (.unreadable("f"), .otherURL, .unknownError, .unknownError),
        (.intact, .nothing, .unInstall, .unInstall),
        (.intact, .same, .unInstall, .success),
        (.intact, .otherBytes, .unInstall, .unInstall),
        (.intact, .otherURL, .unInstall, .unInstall),
    ]

    @Test func `follows from what is wanted, installed, on disk and running`() {
        for (onDisk, installed, notRunning, running) in Self.table {
            for (launch, expected) in [(PatchInLaunch.notRunning, notRunning), (.running, running)] {
                let state = PatchState(
                    wanted: Installed.wanted,
                    installed: installed.address,
                    onDisk: onDisk,
                    launch: launch
                )
                #expect(state == expected, "\(onDisk), \(installed), \(launch)")
            }
        }
        #expect(Self.table.count == 5 * Installed.allCases.count)
    }

    @Test(arguments: [
        (PatchState.success, PatchWork.none), (.unInstall, .install), (.unknownError, .download),
        (.fileNotExist, .download), (.fileNotMatch, .download), (.update, .download), (.add, .download),
    ])
    func `decides the work: everything that is not on disk as it should be is fetched`(
        state: PatchState,
        work: PatchWork
    ) {
        #expect(state.work == work)
    }

    @Test(arguments: [
        (PatchOnDisk.absent, nil), (.intact, nil), (.missing("web 1 app.js"), "web 1 app.js is missing"),
        (.damaged("web 1 app.js", field: "md5"), "web 1 app.js: md5 is not the listed one"),
        (.unreadable("fix 1"), "fix 1 cannot be read"),
    ])
    func `names the file that is wrong`(onDisk: PatchOnDisk, fault: String?) {
        #expect(onDisk.fault == fault)
    }
}
