import CommandKit
import Glibc
import Testing

@Suite("The terminal of a program's input")
struct InputTerminalTests {
    /// In a process of its own: a child of another test could keep the terminal open.
    @Test func `is closed when its window is, and a pipe never is`() async {
        await #expect(processExitsWith: .success) {
            func left() throws -> (input: InputTerminal, wasClosed: Bool) {
                let terminal = try PseudoTerminal()
                let input = InputTerminal(dup(terminal.slave))
                return (input, input.isClosed)
            }
            let (input, wasClosed) = try left()
            #expect(!wasClosed && input.isClosed)

            let pipe = Pipe()
            let piped = InputTerminal(pipe.read)
            close(pipe)
            #expect(!piped.isClosed)
        }
    }
}
