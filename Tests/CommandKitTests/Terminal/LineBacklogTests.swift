import Testing

@testable import CommandKit

@Suite("The lines that a stream has not accepted yet")
struct LineBacklogTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `wait for a slow reader while there is room, and are counted from then on`() {
        var backlog = LineBacklog(room: 8)
        for line in ["one\n", "two\n", "three\n", "4\n"] { backlog.add(bytes(line)) }
        #expect(backlog.waiting == bytes("one\ntwo\n") && backlog.lost == 2, "no line overtakes one that was lost")
    }

    @Test func `are accepted whatever their length where nothing waits`() {
        var backlog = LineBacklog(room: 2)
        backlog.add(bytes("a long line\n"))
        #expect(backlog.waiting == bytes("a long line\n") && backlog.lost == 0)
    }

    @Test func `are lost where the stream fails, except the rest of one that it began`() {
        var backlog = LineBacklog(room: 100)
        backlog.add(bytes("one\ntwo\nthree\n"))
        backlog.wrote(5)
        backlog.failed()
        #expect(backlog.waiting == bytes("wo\n") && backlog.lost == 1)
        backlog.failed()
        #expect(backlog.waiting == bytes("wo\n") && backlog.lost == 1)
        #expect(!backlog.isNoticeDue, "the line is finished first")
        backlog.wrote(3)
        #expect(backlog.isNoticeDue)
    }

    @Test func `are all lost where none was begun, also one without its end`() {
        var backlog = LineBacklog(room: 100)
        backlog.add(bytes("one\ntwo\nthr"))
        backlog.wrote(4)
        backlog.failed()
        #expect(backlog.waiting.isEmpty && backlog.lost == 2)
    }

    @Test func `are told of once, and the notice is not torn either`() {
        var backlog = LineBacklog(room: 100)
        backlog.add(bytes("one\n"))
        backlog.failed()
        let notice = bytes("1 line was lost\n")
        backlog.wrote(0, ofNotice: notice)
        #expect(backlog.isNoticeDue)
        backlog.wrote(6, ofNotice: notice)
        #expect(backlog.waiting == Array(notice.dropFirst(6)) && backlog.lost == 0)
        backlog.add(bytes("two\n"))
        backlog.failed()
        #expect(backlog.waiting == Array(notice.dropFirst(6)) && backlog.lost == 1)
        backlog.wrote(10)
        #expect(backlog.isNoticeDue && !backlog.isEmpty)
    }
}
