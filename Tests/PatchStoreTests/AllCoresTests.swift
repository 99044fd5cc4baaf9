import Synchronization
import Testing

@testable import PatchStore

@Suite("A question about many rows")
struct AllCoresTests {
    @Test(arguments: [0, 1, 511, 512, 513, 999, 1_000, 4_096, 10_001])
    func `is asked of each row once, some hundreds at a time`(count: Int) {
        let asked = Mutex<[Int]>([])
        let holds = (7..<7 + count).allSatisfyOnAllCores { rows in
            #expect(!rows.isEmpty && rows.count <= 512)
            asked.withLock { $0 += rows }
            return true
        }
        #expect(holds)
        #expect(asked.withLock { $0 }.sorted() == Array(7..<7 + count))
    }

    @Test(arguments: [0, 1, 2_500, 9_999])
    func `is answered by one row of which it is not true`(row: Int) {
        #expect(!(0..<10_000).allSatisfyOnAllCores { !$0.contains(row) })
    }
}
