import FoundationEssentials
import PageDiff
import PatchFormat

// splitter FILE…: a line for each page: its bytes, MB/s of finding its marks, and MB/s of that with both tags (SHA-1 of the page and of
// its template).

/// Bytes a second, of work that is done for a second.
func rate(_ bytes: Int, _ work: () -> Int) -> Double {
    let clock = ContinuousClock()
    let began = clock.now
    var (rounds, kept) = (0, 0)
    while clock.now - began < .seconds(1) {
        for _ in 0..<16 { kept &+= work() }
        rounds += 16
    }
    precondition(kept != 0, "the work was left out")
    let spent = (clock.now - began).components
    return Double(bytes * rounds) / (Double(spent.seconds) + Double(spent.attoseconds) / 1e18)
}

for file in CommandLine.arguments.dropFirst() {
    let page = Array(try Data(contentsOf: URL(filePath: file)))
    let marks = rate(page.count) { PageMarks(of: page).blocks.count + 1 }
    let split = rate(page.count) { SplitPage(page).templateTag.hashValue | 1 }
    print("\(page.count) \(Int(marks / 1e6)) \(Int(split / 1e6))")
}
