import PatchRuntime
import Testing

@Suite("A type with a parent")
struct InheritanceTests {
    // Sendable: they hold nothing.
    private class Base: PatchExposed, @unchecked Sendable {
        func name() -> String { "base" }
    }

    private final class Middle: Base, @unchecked Sendable {
        override func name() -> String { "middle" }
    }

    private let host = PatchHost()
    private let baseName = PatchMethod("name") { (object: Base) in object.name() }
    private let middleName = PatchMethod("name") { (object: Middle) in object.name() }
    private let kind = PatchMethod("kind") { (_: Base) in "kind" }

    private func run(_ text: String) throws {
        try host.expose("Base", Base.self) {
            baseName
            kind
        }
        try host.expose("Middle", Middle.self, parent: "Base") {
            middleName
            PatchConstructor { Middle() }
        }
        #expect(host.run([PatchScript(id: "first", version: "1", text)]).rows.map { $0.failure?.description } == [nil])
    }

    @Test
    func `has its parent's methods, and its parent's patches`() throws {
        try run("defineClass('Base', { kind() { return self.ORIGkind() + '!' + self.name() } })")
        #expect(try kind(Middle()) == "kind!middle")
        #expect(try host.evaluate("require('Middle'); new Middle().kind()") == .string("kind!middle"))
    }

    @Test
    func `calls what is above a method as super, by the class that the method is of`() throws {
        try run(
            """
            defineClass('Base', { name() { return 'B(' + self.ORIGname() + ')' } });
            defineClass('Middle', { name() { return 'M(' + self.ORIGname() + self.super().name() + ')' } });
            defineClass('Lower: Middle', { name() { return 'L(' + self.super().name() + ')' } });
            """
        )
        #expect(try middleName(Middle()) == "M(middleB(middle))")
        #expect(try baseName(Base()) == "B(base)")
        #expect(try host.evaluate("require('Lower').alloc().init().name()") == .string("L(M(middleB(middle)))"))
    }

    @Test
    func `gives a new method of a patch to those below it, until the withdrawal`() throws {
        try run("defineClass('Base', { fresh() { return 'fresh' } })")
        #expect(try host.evaluate("new (require('Middle'))().fresh()") == .string("fresh"))
        host.withdraw("first")
        #expect(try host.evaluate("typeof new (require('Middle'))().fresh") == .string("undefined"))
    }

    @Test
    func `overrides an inherited method with that as its original`() throws {
        try run("defineClass('Middle', { kind() { return self.ORIGkind() + '2' } })")
        #expect(try host.evaluate("new (require('Middle'))().kind()") == .string("kind2"))
        #expect(try kind(Middle()) == "kind")
    }

    @Test
    func `that a script makes is found by its name, in its own methods too, until the script is withdrawn`() throws {
        try run(
            """
            defineClass('Fresh: Middle', { name() { return 'fresh' } }, { made() { return Fresh.alloc().init().name() } });
            defineClass('Fresher: Fresh', { name() { return self.super().name() + 'er' } });
            """
        )
        #expect(try host.evaluate("Fresh.made() + ' ' + Fresher.alloc().init().name()") == .string("fresh fresher"))
        host.withdraw("first")
        #expect(try host.evaluate("typeof Fresh + typeof Fresher") == .string("undefinedundefined"))
    }
}
