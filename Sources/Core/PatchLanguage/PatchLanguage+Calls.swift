extension PatchLanguage {
    /// Tracks the running patch and its object, and attributes errors to patches.
    static let calls = #"""
        const global = environment.global;
        const patches = new NewMap();
        let patchCount = 0;
        /// The call that runs: a layer (see below), or of no method at all, { patch, slot: null }.
        let running = null;
        /// The value of `self` for scripts.
        let me = undefined;
        /// A host's or a page's own code: no patch runs.
        const outside = freeze({ __proto__: null, patch: null, slot: null });
        /// The last error that left a patch, and that patch.
        let thrown = undefined, thrower = null;

        function patchNamed(id, order) {
          let patch = mapGet(patches, id);
          if (patch === undefined) {
            patchCount += 1;
            patch = {
              __proto__: null, id, order: order === undefined ? patchCount : order, isActive: true, layers: null,
              types: new NewSet(), properties: new NewWeakMap(), globals: new NewSet(), before: null,
            };
            mapSet(patches, id, patch);
          }
          return patch;
        }

        /// Runs `body` as part of `call`. An error is blamed on the innermost patch that it passes.
        function enter(call, self, object, body, list) {
          const outerCall = running, outerSelf = me;
          running = call;
          me = self;
          try {
            return apply(body, object, list);
          } catch (error) {
            if (call.patch !== null && (thrower === null || !is(thrown, error))) {
              thrown = error;
              thrower = call.patch;
            }
            throw error;
          } finally {
            running = outerCall;
            me = outerSelf;
          }
        }

        /// The patch whose code runs, while it is evaluated or called.
        function runningPatch(name) {
          if (running !== null && running.patch !== null) return running.patch;
          const id = environment.current === undefined ? undefined : environment.current();
          if (id !== undefined) return patchNamed(id, undefined);
          throw new NewError(name + " works only while a patch runs, not after an await");
        }

        /// Returns `work` for a later call: with the same `self`, and without effect once the patch is withdrawn.
        function later(work, name) {
          if (!isFunction(work)) throw new NewTypeError(name + " expects a function");
          // After an await the patch is unknown, so its withdrawal does not stop this call.
          const call = running === null ? outside : running, self = me;
          return function (...list) {
            if (call.patch !== null && !call.patch.isActive) return undefined;
            return enter(call, self, self, work, list);
          };
        }

        /// Begins the evaluation of a script. Scripts with a lower `order` are below those with a higher one.
        function begin(id, order) {
          const patch = patchNamed(id, order), names = ownKeys(global);
          patch.before = new NewSet();
          for (let at = 0; at < names.length; at += 1) setAdd(patch.before, names[at]);
          running = { __proto__: null, patch, slot: null, outer: running, outerSelf: me };
          me = undefined;
        }

        /// Ends the evaluation, and records the names that the script made.
        function end() {
          if (running === null || running.outer === undefined) return;
          claimGlobals(running.patch);
          me = running.outerSelf;
          running = running.outer;
        }

        function claimGlobals(patch) {
          if (patch.before === null) return;
          const names = ownKeys(global);
          for (let at = 0; at < names.length; at += 1) {
            const name = names[at];
            if (setHas(patch.before, name)) continue;
            let isTaken = false;
            mapEach(patches, (other) => { if (other !== patch && setHas(other.globals, name)) isTaken = true; });
            if (!isTaken) setAdd(patch.globals, name);
          }
          patch.before = null;
        }

        /// Moves a script in the order; the caller keeps the scripts' relative order.
        function place(id, order) {
          const patch = mapGet(patches, id);
          if (patch !== undefined) patch.order = order;
        }

        /// The id of the patch that runs; undefined outside of all.
        const owner = () => (running === null || running.patch === null ? undefined : running.patch.id);

        /// The id of the patch that threw `error`; returned once.
        function blame(error) {
          const id = thrower !== null && is(thrown, error) ? thrower.id : undefined;
          thrown = undefined;
          thrower = null;
          return id;
        }

        /// Forgets the running call after a stop, which runs no `finally`.
        function reset() {
          running = null;
          me = undefined;
        }
        """#
}
