# Each target does its own set-up. PATCHLINE_BUILD moves the build elsewhere.
PATCHLINE_BUILD ?= .build
export PATCHLINE_BUILD
SWIFT_BUILD := swift build $(PATCHLINE_SWIFT_FLAGS) --scratch-path "$(PATCHLINE_BUILD)"
# The programs, and nothing that only tests need.
SWIFT_PROGRAMS := for product in patchsign patchsrv patchsync patchscript; do $(SWIFT_BUILD) --product $$product || exit 1; done
# The programs alone: no test target is built for release.
# Swift's own libraries are linked in: a device needs none of them, and a program starts in a third of the time. With them
# comes a wish to export every symbol, for which the linker would keep what nobody calls.
RELEASE := swift build -c release --static-swift-stdlib -Xlinker --no-export-dynamic --scratch-path "$(PATCHLINE_BUILD)"
SWIFT_RELEASE := for product in patchsign patchsrv patchsync patchscript; do $(RELEASE) --product $$product || exit 1; done

.PHONY: demo test transcripts sweep fuzz answers calls recorded meteor-plugin vassonic engines real sites bench bench-sync bench-trust bench-serve bench-gateways bench-pages bench-service bench-page bench-paint bench-flood bench-updates bench-device bench-documents bench-scripts format lint docs docs-check site site-check man man-check example release packages packages-check pictures slow units clean

demo: ; @.ci/setup && $(SWIFT_PROGRAMS) && $(SWIFT_BUILD) --product ShopService && Patches/demo.sh "$$($(SWIFT_BUILD) --show-bin-path)"
test: ; @.ci/setup --with-judges && .ci/test
# What people see of the programs, written anew beside its tests, and what changed of it.
transcripts: ; @.ci/setup --with-judges && .ci/test --transcripts
# All of what a plain run takes a sample of: disks that stop at each change, bytes, devices, requests, shells. Half an hour.
sweep: ; @.ci/setup --with-judges && PATCHLINE_SWEEP=all .ci/test --filter 'Interrupt|Crash|Stopped|Killed|BasePackTests|ChainTests|ExplanationTests|PipelineTests.HelpTests|keeps to its own description|answers whoever asks as a device'
# Half an hour each, optimised, with the address sanitizer; what fails and the grown corpus stay in FOUND.
fuzz: ; @.ci/setup && CONFIGURATION=release SECONDS_EACH=$${SECONDS_EACH:-1800} FOUND=$${FOUND:-$$(.ci/private-folder fuzz-found)} .ci/fuzz
# Made-up answers at each user of the HTTP client, without TLS and with it, SECONDS_EACH, from SEED on; what fails or was in flight is named by its seed.
answers: ; @.ci/setup --with-judges && $(SWIFT_BUILD) --build-tests && PATCHLINE_ANSWERS_SECONDS=$${SECONDS_EACH:-600} PATCHLINE_ANSWERS_SEED=$${SEED:-1000} .ci/test --skip-build --filter 'HTTPCoreTests.HostileAnswerTests'
# Made-up page calls, control requests and settings at a daemon with two stores, SECONDS_EACH, from SEED on; a failure names its seed.
calls: ; @.ci/setup --with-judges && $(SWIFT_BUILD) --build-tests && PATCHLINE_CALLS_SECONDS=$${SECONDS_EACH:-3600} PATCHLINE_CALLS_SEED=$${SEED:-1000} .ci/test --skip-build --filter 'PipelineTests.HostileCallTests'
# What GCDWebServer recorded, from a working copy of it: make recorded CHECKOUT=DIR
recorded: ; @.ci/setup --with-judges && Tests/recorded.sh "$(CHECKOUT)"
# The specs of Meteor's own plugin, unmodified, from a working copy of it: make meteor-plugin CHECKOUT=DIR
meteor-plugin: ; @.ci/setup --with-judges && $(SWIFT_BUILD) --product patchsync && node Tests/MeteorPlugin/run.mjs "$(CHECKOUT)" "$$($(SWIFT_BUILD) --show-bin-path)/patchsync"
# VasSonic's own servers beside ours, from a working copy of it: make vassonic CHECKOUT=DIR
vassonic: ; @.ci/setup --with-judges && $(SWIFT_BUILD) --product patchsrv && node Tests/VasSonic/run.mjs "$(CHECKOUT)" "$$($(SWIFT_BUILD) --show-bin-path)/patchsrv"
# An app with a service worker in each browser engine that is installed: ENGINES="firefox wpe" for some.
engines: ; @.ci/setup --with-judges && $(SWIFT_PROGRAMS) && Tests/Engines/run.sh "$(PATCHLINE_BUILD)" "$$($(SWIFT_BUILD) --show-bin-path)" $(ENGINES)
real: ; @.ci/setup --with-judges && $(SWIFT_BUILD) && Benchmarks/real.sh "$$($(SWIFT_BUILD) --show-bin-path)" $(APPS)
# Seventeen web apps that others wrote, and two of ours, on a device beside nginx; the page "Real web apps" has the results. APPS="flet sphinx" chooses.
# They are fetched once, into PATCHLINE_SITES_CACHE (~/.cache/patchline-sites).
sites: ; @.ci/setup --with-judges && $(SWIFT_PROGRAMS) && "$(PATCHLINE_BUILD)/judges/bin/python" -B Tests/Sites/sites.py "$$($(SWIFT_BUILD) --show-bin-path)" $(foreach app,$(APPS),--app $(app)) $(SITES_FLAGS)
bench: ; @.ci/setup --with-judges && $(SWIFT_RELEASE) && Benchmarks/run.sh "$$($(RELEASE) --show-bin-path)"
bench-sync: ; @.ci/setup && $(SWIFT_RELEASE) && Benchmarks/sync.sh "$$($(RELEASE) --show-bin-path)"
bench-trust: ; @.ci/setup --with-judges && $(SWIFT_RELEASE) && Benchmarks/trust.sh "$$($(RELEASE) --show-bin-path)"
bench-gateways: ; @.ci/setup --with-judges && $(SWIFT_RELEASE) && Benchmarks/gateways.sh "$$($(RELEASE) --show-bin-path)"
# Of pages in two versions, NAME.old.html and NAME.new.html, marked by Benchmarks/mark_pages.py: make bench-pages PAGES=DIR
bench-pages: ; @.ci/setup --with-judges && $(SWIFT_RELEASE) && PYTHON="$(PATCHLINE_BUILD)/judges/bin/python" Benchmarks/pages.sh "$$($(RELEASE) --show-bin-path)" "$(PAGES)"
bench-serve: ; @.ci/setup && $(SWIFT_RELEASE) && Benchmarks/serve.sh "$$($(RELEASE) --show-bin-path)"
bench-service: ; @.ci/setup && $(SWIFT_RELEASE) && Benchmarks/service.sh "$$($(RELEASE) --show-bin-path)"
bench-page: ; @.ci/setup --with-judges && $(SWIFT_RELEASE) && PYTHON="$(PATCHLINE_BUILD)/judges/bin/python" Benchmarks/page.sh "$$($(RELEASE) --show-bin-path)"
bench-paint: ; @.ci/setup --with-judges && $(SWIFT_RELEASE) && PYTHON="$(PATCHLINE_BUILD)/judges/bin/python" Benchmarks/paint.sh "$$($(RELEASE) --show-bin-path)"
bench-flood: ; @.ci/setup && $(SWIFT_RELEASE) && Benchmarks/flood.sh "$$($(RELEASE) --show-bin-path)"
bench-updates: ; @.ci/setup && $(SWIFT_RELEASE) && for case in "" --many; do Benchmarks/updates.sh "$$($(RELEASE) --show-bin-path)" "$(PATCHLINE_BUILD)/updates" $$case || exit 1; done
bench-device: ; @.ci/setup && $(SWIFT_RELEASE) && Benchmarks/device.sh "$$($(RELEASE) --show-bin-path)"
bench-documents: ; @Benchmarks/documents.sh
bench-scripts: ; @.ci/setup && Benchmarks/scripts.sh
format: ; swift format --in-place --recursive Sources Tests Examples Patches/service/Sources Package.swift
# No module by luck, no message without a transcript, no more tiring sentences than before; the largest cycle of files that is there: no module gets a larger one.
lint: ; swift format lint --strict --recursive Sources Tests Examples Patches/service/Sources Package.swift && .ci/imports && .ci/links && .ci/file-graph --limit 5 >/dev/null && .ci/messages && .ci/voice
# The same links, judged in seconds beside what was built; CI runs it.
docs-check: ; @.ci/docs
# Expressions that take more than LIMIT milliseconds to type-check, and functions that take more than twice as long; a build of its own.
slow: ; @.ci/setup && .ci/slow-expressions $(LIMIT)
# The sample as the package of its own that it is.
example: ; @.ci/setup && swift build --package-path Examples/Shop --scratch-path "$(PATCHLINE_BUILD)-example"
docs: ; swift package --scratch-path "$(PATCHLINE_BUILD)" generate-documentation --target Patchline --target PatchFormat && $(MAKE) site
# All pages as static HTML with search, in PATCHLINE_BUILD/site. It contains the symbols' pages if `make docs` made them.
SITE := "$(PATCHLINE_BUILD)/judges/bin/python" -B
site: ; @.ci/setup --with-judges && $(SITE) .ci/site --symbols "$(PATCHLINE_BUILD)/plugins/Swift-DocC/outputs" "$(PATCHLINE_BUILD)/site" && echo "$(PATCHLINE_BUILD)/site/index.html"
# Opens each page of the site in Chromium.
site-check: site ; @$(SITE) .ci/site-check "$(PATCHLINE_BUILD)/site"
# The manual pages, as a package takes them: below its prefix. They are judged where mandoc is installed.
MANDIR ?= $(PATCHLINE_BUILD)/share/man/man1
man: ; @.ci/setup && $(SWIFT_PROGRAMS) && $(SWIFT_BUILD) --product generate-manual && .ci/man "$$($(SWIFT_BUILD) --show-bin-path)" "$(MANDIR)"
# The same from what was built; CI runs it.
man-check: ; @$(SWIFT_BUILD) --product generate-manual >/dev/null && .ci/man "$(PATCHLINE_BUILD)/debug" "$(PATCHLINE_BUILD)/share/man/man1"
release: ; @.ci/setup && $(SWIFT_RELEASE)
# What people install; the page "Packages" tells what is in it.
PACKAGES := $(PATCHLINE_BUILD)/packages
packages: ; @.ci/setup && $(SWIFT_RELEASE) && $(RELEASE) --product generate-manual && .ci/man "$$($(RELEASE) --show-bin-path)" "$(PACKAGES)/man" && .packaging/packages "$$($(RELEASE) --show-bin-path)" "$(PACKAGES)/man" "$(PACKAGES)"
# By hand and as root: boots a bare Debian with them in ROOT, which debootstrap fills once.
packages-check: packages ; @.packaging/check "$$($(RELEASE) --show-bin-path)" "$(PACKAGES)" "$${ROOT:-$$(.ci/private-folder bookworm)/root}"
# The animation and the screenshots of the pages, from the real programs; two minutes.
pictures: ; @.ci/setup --with-judges && $(SWIFT_PROGRAMS) && "$(PATCHLINE_BUILD)/judges/bin/python" -B Examples/Pictures/make.py "$$($(SWIFT_BUILD) --show-bin-path)"
# What systemd says of the services; CI runs it.
units: ; @.ci/units
clean: ; rm -rf "$(PATCHLINE_BUILD)" "$(PATCHLINE_BUILD)-fuzz" "$(PATCHLINE_BUILD)-slow" "$(PATCHLINE_BUILD).source"
