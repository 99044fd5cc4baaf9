import Glibc

/// The terminal at which a program was started, if its input is one.
///
/// A closed terminal sends SIGHUP, as does an operator who wants files to be read again. Only the first must end the program.
package struct InputTerminal: Sendable {
    private let descriptor: Int32
    private let existed: Bool

    package init(_ descriptor: Int32 = STDIN_FILENO) {
        self.descriptor = descriptor
        existed = isatty(descriptor) == 1
    }

    package var isClosed: Bool { existed && isatty(descriptor) != 1 }
}
