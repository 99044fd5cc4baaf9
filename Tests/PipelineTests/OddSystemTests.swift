import Glibc
import Subprocess
import SystemPackage
import Testing

/// The surroundings that devices and servers really have: links, mounts, limits, environments.
@Suite("A system that is set up in another way")
struct OddSystemTests {
    /// Runs lines of a shell with our programs in its path, in the world's folder.
    private func shell(_ lines: String, in world: World) async throws -> Outcome {
        let path = "PATH=\(Tool.binaries.string):/usr/sbin:/usr/bin:/sbin:/bin"
        let script = "set -e; ROOT='\(world.root)'\n" + lines
        return try await run(.system("env"), [path, "bash", "-c", script], in: world.folder)
    }

    /// Installs, updates, serves and rolls back in `$STORE`, where `$RUN` may say how each program starts.
    private static let life = """
        $RUN patchsync init --store "$STORE" --root "$ROOT" --server $URL --no-own-host >/dev/null
        $RUN patchsync sync --store "$STORE" --retries 0 >/dev/null
        serve() {
          rm -f url; $RUN patchsync serve --store "$STORE" --port 0 --no-sync --url-file "$PWD/url" >serve.log 2>&1 & pid=$!
          for i in $(seq 6000); do [ -s url ] && break; kill -0 $pid || break; sleep 0.05; done
          curl -sL -c cookies "$(cat url)" | grep -o '<title>.*</title>'
          kill $pid; wait $pid || true
        }
        serve
        launch=$($RUN patchsync status --store "$STORE" --json | grep -o '"launch":"[0-9a-f]*"' | cut -d'"' -f4)
        [ -z "$launch" ] || echo $launch | $RUN patchsync confirm --store "$STORE" --launch-file - >/dev/null
        $RUN patchsync verify --store "$STORE" --entries >/dev/null && echo whole
        """

    private func live(_ setup: String, in world: World) async throws -> Outcome {
        try await world.withServer(of: world.shop.site2) { server in
            try await shell("URL=\(server.url)\n\(setup)\n\(Self.life)", in: world)
        }
    }

    @Test(arguments: [
        ("a link above the store", "mkdir -p var/home; ln -s var/home home; STORE=home/kiosk/store"),
        ("a store that is a link", "mkdir data; ln -s data store; STORE=store/"),
        ("a parent behind a link", "mkdir -p a/b; ln -s a/b link; STORE=link/../store"),
        ("spaces and letters", "STORE='my stores/café 店'"),
        ("no folder for temporary files", "export TMPDIR=/no/such/folder; STORE=store"),
        ("a locale of another time", "export LC_ALL=C LANG=de_DE.ISO-8859-1; STORE=zoë"),
        ("few open files", "ulimit -n 64; STORE=store"),
    ])
    func `runs a store`(_ name: String, setup: String) async throws {
        try await World.with { world in
            let outcome = try await live(setup, in: world)
            #expect(outcome.code == 0 && outcome.output == "<title>release 2</title>\nwhole\n", "\(name): \(outcome)")
        }
    }

    @Test(
        arguments: [
            ("noexec", "mkdir m; mount -t tmpfs -o noexec,nosuid,nodev none m; STORE=m/store"),
            (
                "overlay",
                "mkdir base; mount -t tmpfs none base; mkdir base/{lower,upper,work,m}; "
                    + "mount -t overlay none -o lowerdir=base/lower,upperdir=base/upper,workdir=base/work base/m; STORE=base/m/store"
            ),
        ]
    )
    func `runs a store on a mount`(_ name: String, setup: String) async throws {
        try await World.with { world in
            let inside =
                "exec 3>&1; unshare --user --map-root-user --mount --propagation private bash -e -c '\(Self.quoted(setup + "\n" + Self.life))'"
            let outcome = try await world.withServer(of: world.shop.site2) { server in
                try await shell("export ROOT URL=\(server.url)\n\(inside)", in: world)
            }
            #expect(outcome.code == 0 && outcome.output == "<title>release 2</title>\nwhole\n", "\(name): \(outcome)")
        }
    }

    private static func quoted(_ script: String) -> String { script.replacing("'", with: #"'\''"#) }

    @Test func `names a link that leads nowhere, or back, and makes nothing`() async throws {
        try await World.with { world in
            let outcome = try await shell(
                """
                set +e; ln -s nowhere gone; ln -s loop loop
                for store in gone gone/store loop loop/store; do
                  patchsync init --store $store --root "$ROOT" --server http://127.0.0.1:9; echo "$?"
                done
                ls -A
                """,
                in: world
            )
            #expect(outcome.output == "6\n6\n6\n6\ngone\nloop\n", "\(outcome)")
            let gone = "\(world.path("gone")) is a symbolic link to nowhere, which does not exist"
            let loop = "\(world.path("loop")) is a symbolic link to loop, which leads back to it"
            #expect(outcome.errors.components(of: gone) == 2 && outcome.errors.components(of: loop) == 2, "\(outcome)")
        }
    }

    @Test func `whose names are not UTF-8 is told so before anything is made`() async throws {
        try await World.with { world in
            let outcome = try await shell(
                #"""
                set +e; name=$(printf 'caf\351'); mkdir "$name"
                LC_ALL=C patchsync init --store "$name/store" --root "$ROOT" --server http://127.0.0.1:9; echo "$?"
                PATCHSYNC_STORE="$name/store" patchsync status; echo "$?"
                cd "$name" && patchsync init --store s --root "$ROOT" --server http://127.0.0.1:9; echo "$?"
                find .. | wc -l
                """#,
                in: world
            )
            #expect(outcome.output == "64\n64\n64\n2\n", "\(outcome)")
            #expect(outcome.errors.contains("is not UTF-8\nhint: file names must be UTF-8: rename"), "\(outcome)")
            #expect(outcome.errors.contains("error: the name of the working directory is not UTF-8\n"), "\(outcome)")
        }
    }

    @Test func `links what a command names: keys, sources, outputs, data, roots, files of settings and URLs`()
        async throws
    {
        try await World.with { world in
            let outcome = try await shell(
                """
                mkdir -p var/srv; ln -s var/srv srv; cp -R '\(world.shop.source(1))' var/srv/source; ln -s srv/source source
                patchsign init --app com.example.links --keys srv/keys --unencrypted-keys --bits 2048 >/dev/null
                ln -s srv/keys keys; sed -i 's/^app: .*/app: com.example.links/' source/release.yaml
                patchsign release source --keys keys --output srv/out >/dev/null; ln -s srv/out out
                ln -s keys/root.json root.json; ln -s keys/online.key online.key
                patchsrv init --data srv/site --trust keys --online-key online.key >/dev/null; ln -s srv/site site
                patchsrv publish out --data site >/dev/null
                patchsrv export srv/www --data site >/dev/null; ln -s srv/www www
                patchsrv export www --data site >/dev/null
                patchsrv backup srv/backup --data site >/dev/null; ln -s srv/backup backup
                patchsrv restore backup --data srv/again >/dev/null
                patchsync init --store srv/store --root root.json --server http://127.0.0.1:9 >/dev/null
                ls -A var/srv | tr '\\n' ' '
                """,
                in: world
            )
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output == "again backup keys out site source store www ", "\(outcome)")
        }
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { ranges(of: part).count }
}
