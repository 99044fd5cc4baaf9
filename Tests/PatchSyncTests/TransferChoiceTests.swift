import Testing

@testable import PatchSync

@Suite("The choice of a transfer")
struct TransferChoiceTests {
    @Test(
        arguments: [
            // What is missing, its bytes, and those of the whole bundle.
            (8, 8_000, 8_000, .wholePack),
            (7, 7_000, 7_000, .singleObjects),
            (0, 0, 1_000, .singleObjects),
            (10_000, 0, 0, .singleObjects),
            // esphome's update: nearly all of its bytes change, in few files.
            (33, 4_050_000, 4_660_000, .singleObjects),
            // Most of a first install, and one where most is here.
            (300, 4_100_000, 5_000_000, .wholePack),
            (5_000, 50_000_000, 100_000_000, .wholePack),
            (100, 2_200_000, 65_000_000, .singleObjects),
            (2_000, 2_000_000, 65_000_000, .singleObjects),
            // Eight large ones, and all but one of them.
            (8, 4_000_000_000, 4_000_000_000, .wholePack),
            (8, 3_500_000_000, 4_000_000_000, .singleObjects),
            (100_000, 400_000_000_000_000, 400_000_000_000_000, .wholePack),
        ] as [(Int, Int, Int, TransferChoice)]
    )
    func `is the one that costs less`(count: Int, bytes: Int, packBytes: Int, choice: TransferChoice) {
        #expect(TransferChoice(missing: count, bytes: bytes, of: packBytes) == choice)
    }

    @Test func `turns where both cost the same`() {
        // 10 × 3,000 and 27 % of 100,000 are 27 % of 211,111.1.
        #expect(TransferChoice(missing: 10, bytes: 100_000, of: 211_111) == .wholePack)
        #expect(TransferChoice(missing: 10, bytes: 100_000, of: 211_112) == .singleObjects)
    }
}
