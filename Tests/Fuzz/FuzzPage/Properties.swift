import Fuzzing
import PageDiff

/// Marks lie in the page, one after the other; where there is data, every client makes the page of it; an update is read as written.
func attempt(_ bytes: [UInt8]) {
    let page = SplitPage(bytes)
    var end = 0
    for block in page.marks.blocks {
        require(block.range.lowerBound >= end && block.range.upperBound <= bytes.count, "blocks follow one another")
        require(block.range.count > "<!--sonicdiff--><!--sonicdiff-end-->".utf8.count, "a block has something in it")
        end = block.range.upperBound
    }
    require(page.warnings.count <= PageLimits.warnings, "doubts are few")
    require(page.warnings.map(\.line) == page.warnings.map(\.line).sorted(), "doubts are in the page's order")
    if let data = page.data {
        require(data.page(of: page.template) == bytes, "template and data make the page")
        for members in [data.members, data.members.reversed()] {
            let made = members.reduce(page.template) { $0.replacing("{\($1.name)}".utf8, with: $1.bytes) }
            require(made == bytes, "so they do one name after the other")
        }
        let update = DataUpdate(data: data, pageTag: page.pageTag, templateTag: page.templateTag)
        guard let read = try? DataUpdate(update.bytes) else { fatalError("broken: an update cannot be read again") }
        require(read.data.page(of: page.template) == bytes, "an update makes the page")
    }
    guard let update = try? DataUpdate(bytes) else { return }
    guard let again = try? DataUpdate(update.bytes) else { fatalError("broken: what was read cannot be written") }
    require(Set(again.data.members.map(\.name)) == Set(update.data.members.map(\.name)), "no name is lost")
}
