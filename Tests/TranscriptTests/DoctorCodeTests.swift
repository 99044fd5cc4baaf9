import PatchSync
import Testing

@testable import PatchSyncCommand

@Suite("The doctor's codes")
struct DoctorCodeTests {
    @Test func `are those of a failed sync, but for three that a server is not blamed for by name`() {
        let others: [SyncFailureCode] = SyncFailureCode.allCases.filter { code in
            let found: DoctorCode = DoctorCode(code)
            return found.rawValue != code.rawValue
        }
        #expect(others == [.diskFailed, .storeDamaged, .other])
        #expect(others.map { DoctorCode($0) } as [DoctorCode] == [.serverFailed, .stateDamaged, .serverFailed])
    }
}
