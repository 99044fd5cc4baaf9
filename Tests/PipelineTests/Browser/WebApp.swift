import FoundationEssentials
import SystemPackage

/// A small web app in releases that look different, and say so in each of their files.
struct WebApp: Hashable, Sendable {
    let number: Int
    /// By their paths in the bundle.
    var files: [String: Data] = [:]
    /// Paths that name their content.
    var cacheable: [String] = []

    init(_ number: Int) {
        self.number = number
        self["index.html"] = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>release \(number)</title>
            <link rel="icon" href="/img/icon.svg"><link rel="stylesheet" href="/app/style.css">
            <script src="/__patchline/launch.js"></script>
            <h1>release \(number)</h1><p id="route"></p><p><img src="/img/icon.svg" alt="a circle"></p>
            <p><progress max="100" value="0"></progress> <button id="switch" hidden>Show the new version</button></p>
            <script type="module" src="/app/main.js"></script></html>

            """
        self["app/main.js"] = """
            import { number } from "./part.js";
            document.getElementById("route").textContent = location.pathname;
            const button = document.getElementById("switch");
            button.onclick = () => patchline.switchToPending();
            window.heard = [];
            window.lazy = () => import("./lazy.js?" + Math.random());
            for (const name of ["checking", "progress", "checked", "failed", "ready", "switched"])
              patchline.on(name, (event) => {
                heard.push([name, event.percent ?? event.version ?? event.message]);
                if (name === "progress") document.querySelector("progress").value = event.percent;
                if (name === "ready") button.hidden = false;
              });
            patchline.on("state", () => { document.documentElement.dataset.parts = "\(number) " + number; });

            """
        self["app/part.js"] = "export const number = \(number);\n"
        self["app/lazy.js"] = "export const number = \(number);\n"
        self["app/late.json"] = "{\"number\": \(number)}\n"
        self["app/only\(number).json"] = "{\"number\": \(number)}\n"
        self["app/style.css"] =
            "body { font: 1.5rem sans-serif; margin: 3rem; background: \(["", "#eef", "#efe", "#fee"][number]) }\n"
        self["img/icon.svg"] =
            "<svg xmlns='http://www.w3.org/2000/svg' width='64' height='64'><circle cx='32' cy='32' r='30'/></svg>\n"
    }

    /// A text file.
    subscript(path: String) -> String {
        get { files[path].map { String(decoding: $0, as: UTF8.self) } ?? "" }
        set { files[path] = Data(newValue.utf8) }
    }

    func put(in folder: FilePath) throws {
        for (path, bytes) in files {
            let file = folder.appending("web").pushing(FilePath(path))
            try FileManager.default.createDirectory(
                atPath: file.removingLastComponent().string,
                withIntermediateDirectories: true
            )
            try bytes.write(to: URL(filePath: file.string))
        }
        let cacheable = cacheable.map { "\"\($0)\"" }.joined(separator: ", ")
        try write(
            """
            app: \(Workshop.app)
            channel: production
            patches:
              - {id: web, kind: bundle, version: \(number).0.0, folder: web, index: index.html, cacheable: [\(cacheable)]}

            """,
            to: folder.appending("release.yaml")
        )
    }
}
