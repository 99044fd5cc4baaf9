import DeviceTesting
import PatchChoice
import PatchFormat
import PatchSync
import PatchTesting
import Testing

/// M3, in words.
@Suite("Why a bundle is not taken")
struct BundleRefusalTests {
    @Test func `is told in Meteor's sentences`() throws {
        let until = ManualClock.start.adding(.days(14))
        let ios = try #require(Platform(name: "ios", compatibility: "new"))
        #expect(
            SyncError.blacklisted(installed("web 2").label, until: until).description
                == "web 2: Skipping downloading blacklisted version: failed its trials here; blocked until \(until), or "
                + "until `patchsync unblock`"
        )
        #expect(
            SyncError.incompatible(installed("web 2").label, ios, needs: "old").description
                == "web 2: Skipping downloading new version because it is made for another native part and potentially "
                + "incompatible; this device is ios new, it needs old"
        )
    }
}
