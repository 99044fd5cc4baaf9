extension PatchLanguage {
    /// Further globals for scripts: `self`, queues, the console, and the functions of JSPatch.
    static let prelude = #"""
        const scheduled = (queue, seconds, work, name) => {
          environment.schedule(queue, seconds, later(work, name));
        };
        const words = {
          __proto__: null,
          require, defineClass,
          include(name) {
            if (typeof name !== "string") throw new NewTypeError("include expects the name of a script");
            return environment.include(name);
          },
          dispatch_after(seconds, work) { scheduled("main", +seconds, work, "dispatch_after"); },
          dispatch_async_main(work) { scheduled("main", 0, work, "dispatch_async_main"); },
          dispatch_async_global_queue(work) { scheduled("global", 0, work, "dispatch_async_global_queue"); },
          /// Runs at once, because all calls of a context run one after the other.
          dispatch_sync_main(work) { later(work, "dispatch_sync_main")(); },
          /// JSPatch's block("NSString *, BOOL", function): the types have no effect here.
          block(types, work) { return later(isFunction(types) ? types : work, "block"); },
          YES: true, NO: false, nsnull: null,
        };

        const keep = (name, value) => defineProperty(global, name, {
          __proto__: null, value, enumerable: false, writable: !environment.fixed, configurable: !environment.fixed,
        });

        function putWords() {
          const names = ownKeys(words);
          for (let at = 0; at < names.length; at += 1) keep(names[at], words[names[at]]);
          const outer = getOwnPropertyDescriptor(global, "self");
          defineProperty(global, "self", {
            __proto__: null, enumerable: false, configurable: !environment.fixed,
            get: () => (running === null || me === undefined ? (outer === undefined ? undefined : global) : me),
            set(value) {
              if (running !== null) me = value;
              else if (!environment.fixed) defineProperty(global, "self", shown(value, true));
            },
          });
        }

        /// One value of a console's line.
        function lineOf(value) {
          if (typeof value === "string") return value;
          try {
            if (value instanceof NewError) return textOf(value);
            if (typeof value !== "object" || value === null) return textOf(value);
            const text = jsonOf(value);
            return text === undefined ? textOf(value) : text;
          } catch {
            return "[object]";
          }
        }

        function putConsole() {
          const console = {}, levels = ["log", "info", "warn", "error", "debug"];
          for (let level = 0; level < levels.length; level += 1) {
            const name = levels[level];
            defineProperty(console, name, shown(function (...values) {
              let line = "";
              for (let at = 0; at < values.length && line.length < 4000; at += 1)
                line += (at === 0 ? "" : " ") + lineOf(values[at]);
              environment.log(name, slice(line, 0, 4000), owner());
            }, true));
          }
          keep("console", console);
        }

        /// An object's own members: [names, values].
        const members = (object) => [keys(object), values(object)];

        /// Calls a method, and passes its value or error, or those of its promise, to one of two functions.
        const awaited = (method, object, take, refuse, ...list) => {
          apply(then, apply(promiseOf, NewPromise, [apply(method, object, list)]), [take, refuse]);
        };

        putWords();
        if (environment.log !== undefined) putConsole();
        return freeze({ __proto__: null, ...words, expose, hostType, begin, end, place, withdraw, blame, owner, reset,
          members, awaited, describe: lineOf,
        });
        """#
}
