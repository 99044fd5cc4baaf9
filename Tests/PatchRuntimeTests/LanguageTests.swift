import PatchLanguage
import Testing

@testable import PatchRuntime

@Suite("The patch language")
struct LanguageTests {
    @Test
    func `is a text that the engine takes`() throws {
        let engine = JavaScriptEngine(limits: EngineLimits(time: .seconds(1), bytes: 100_000_000))
        _ = try engine.evaluate(PatchLanguage.text, source: "language")
        let result = try engine.evaluate(
            """
            (() => { const out = [];
            const language = \(PatchLanguage.text)({ global: globalThis, fixed: false, waits: true, changed() {}, schedule(q, s, w) { w() }, include() {} });
            class A { m() { return "A" } static s() { return "S" } }
            class B extends A { m() { return "B" + this.n() } n() { return "n" } }
            language.begin("early");
            defineClass("B", ["data"], { m() { return self.ORIGmethod ? "?" : "1" + self.ORIGm() + self.super().m() }, n() { return "N" } }, { s() { return "s" + self.ORIGs() } });
            language.end();
            language.expose("A", A); language.expose("B", B);
            const b = new B(); out.push(b.m(), B.s());
            language.begin("second"); require("B"); 
            defineClass("B", { m() { return "2" + self.ORIGm() } }); language.end();
            out.push(b.m()); b.setData(5); out.push(b.data(), require("B") === B);
            language.withdraw("early"); out.push(b.m(), B.s(), typeof b.data);
            language.withdraw("second"); out.push(b.m(), Object.keys(B.prototype).length);
            language.begin("third");
            defineClass("X", { init() { self = self.super().init(); self.k = 3; return self }, k2() { return self.k } }, { c() { return "c" } });
            defineClass("Y: X", { k2() { return "y" + self.super().k2() } });
            defineClass("Z: Y", { k2() { return "z" + self.super().k2() } });
            out.push(new (require("Z"))().k2(), Z.alloc().init().k2(), Z.c());
            language.end(); language.withdraw("third"); out.push(typeof Z, String(self));
            language.begin("fourth"); defineClass("Loud: Late", { m() { return self.super().m() + "!" } });
            let early; try { new (require("Loud"))() } catch (error) { early = error.message }
            language.end(); language.expose("Late", class { m() { return "l" } });
            out.push(early, new (require("Loud"))().m());
            language.begin("fifth"); defineClass("Heir: Old", { m() { return self.super().m() + "h" } }); language.end();
            language.begin("sixth"); defineClass("Old", { m() { return "o" } }); language.end();
            out.push(new (require("Heir"))().m());
            return JSON.stringify(out); })()
            """,
            source: "t"
        )
        #expect(
            engine.text(of: result)
                == #"["1BNA","sS","21BNA",5,true,"2Bn","S","undefined","Bn",0,"zy3","zy3","c","undefined","undefined","Loud: its parent Late is not exposed yet","l!","oh"]"#
        )
    }

    @Test func `has class methods by names that every function has of its own, which subclasses inherit`() throws {
        let engine = JavaScriptEngine(limits: EngineLimits(time: .seconds(1), bytes: 100_000_000))
        _ = try engine.evaluate(PatchLanguage.text, source: "language")
        let result = try engine.evaluate(
            """
            (() => { const out = [];
            const language = \(PatchLanguage.text)({ global: globalThis, fixed: false, waits: true, changed() {}, schedule(q, s, w) { w() }, include() {} });
            language.expose("Host", class Host { m() { return "host" } });
            language.begin("one");
            defineClass("Cell: Host", {}, { name() { return "n" + this.title() }, length() { return "l" }, title() { return "t" } });
            defineClass("Wide: Cell", {}, { title() { return "w" } });
            defineClass("Widest: Wide", {}, { name() { return "my" + this.super().name() }, length() { return this.ORIGlength() + "!" } });
            require("Cell,Wide,Widest"); language.end();
            for (const type of [Cell, Wide, Widest]) out.push(type.name(), type.length());
            out.push(new Wide().m());
            language.begin("two"); defineClass("Plain", {}); defineClass("Child: Plain", {}); require("Plain,Child"); language.end();
            out.push(Plain.name, Child.name, Child.length, String(new Child()));
            const child = Child;
            language.begin("three"); defineClass("Plain", {}, { name() { return "late" } }); language.end();
            out.push(child.name()); language.withdraw("three"); out.push(child.name);
            return JSON.stringify(out); })()
            """,
            source: "t"
        )
        let expected = #"["nt","l","nw","l","mynw","l!","host","Plain","Child",0,"[Child]","late","Child"]"#
        #expect(engine.text(of: result) == expected)
    }
}
