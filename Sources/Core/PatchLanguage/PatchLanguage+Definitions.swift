extension PatchLanguage {
    /// The functions for scripts, `require` and `defineClass`, and the withdrawal of a patch.
    static let definitions = #"""
        /// Classes by name, comma-separated, also put where scripts find them; the last is returned.
        function require(...names) {
          let last;
          for (let at = 0; at < names.length; at += 1) {
            if (typeof names[at] !== "string") throw new NewTypeError("require expects names of classes");
            partsOf(names[at], ",", (name) => { last = required(name); });
          }
          return last;
        }

        function required(name) {
          const type = mapGet(types, name);
          let value = type === undefined ? null : type.target;
          if (value === null) {
            if (!environment.waits) throw new NewReferenceError("require: the host exposes no '" + name + "'");
            value = forwarding(name);
          }
          if (!hasOwn(global, name)) {
            defineProperty(global, name, hidden(value, true));
            if (running !== null && running.patch !== null) setAdd(running.patch.globals, name);
          }
          return value;
        }

        /// A placeholder for a class that a page exposes later.
        function forwarding(name) {
          const found = () => {
            const type = mapGet(types, name);
            if (type === undefined || type.target === null) throw new NewReferenceError("'" + name + "' is not exposed yet");
            return type.target;
          };
          return new NewProxy(function () {}, {
            __proto__: null,
            get: (_, key) => get(found(), key),
            construct: (_, list) => construct(found(), list),
          });
        }

        /// defineClass("Name", {method() {…}}, {staticMethod() {…}}), with ["property"] before the methods if there are any.
        function defineClass(declaration, ...rest) {
          const patch = runningPatch("defineClass");
          if (typeof declaration !== "string") throw new NewTypeError("defineClass expects the name of a class first");
          const mark = indexOf(declaration, "<");
          let name, parentName;
          partsOf(mark < 0 ? declaration : slice(declaration, 0, mark), ":", (part) => {
            if (name === undefined) name = part; else parentName = part;
          });
          if (name === undefined) throw new NewTypeError("defineClass expects the name of a class first");
          const hasProperties = isList(rest[0]);
          const properties = hasProperties ? rest[0] : undefined;
          const methods = rest[hasProperties ? 1 : 0], statics = rest[hasProperties ? 2 : 1];
          let type = mapGet(types, name);
          if (type === undefined || type.target === null) type = scriptType(patch, name, parentName);
          if (properties !== undefined) defineProperties(patch, type, properties, methods);
          layAll(patch, type.instances, methods, name);
          layAll(patch, type.statics, statics, name);
          // As JSPatch does. A page has names of its own, and may expose this one later.
          return environment.waits ? type.target : required(name);
        }

        function layAll(patch, site, methods, name) {
          if (methods === undefined || methods === null) return;
          if (!isObject(methods)) throw new NewTypeError("defineClass: the methods of " + name + " are not an object");
          const names = ownKeys(methods);
          for (let at = 0; at < names.length; at += 1) {
            const method = names[at];
            if (typeof method !== "string") continue;
            const body = methods[method];
            if (!isFunction(body)) throw new NewTypeError("defineClass: " + name + "." + method + " is not a function");
            lay(patch, site, method, body);
          }
        }

        /// Defines `name()` and `setName(value)` for each; the values are kept until the patch is withdrawn.
        function defineProperties(patch, type, properties, methods) {
          const has = (name) => isObject(methods) && hasOwn(methods, name);
          for (let at = 0; at < properties.length; at += 1) {
            const name = textOf(properties[at]), setter = "set" + upperCase(slice(name, 0, 1)) + slice(name, 1);
            if (!has(name)) lay(patch, type.instances, name, function () {
              const values = weakGet(patch.properties, this);
              return values === undefined ? undefined : values[name];
            });
            if (!has(setter)) lay(patch, type.instances, setter, function (value) {
              let values = weakGet(patch.properties, this);
              if (values === undefined) weakSet(patch.properties, this, (values = create(null)));
              values[name] = value;
            });
          }
        }

        /// Removes all definitions of a patch, and drops its scheduled calls.
        function withdraw(id) {
          const patch = mapGet(patches, id);
          if (patch === undefined) return false;
          patch.isActive = false;
          claimGlobals(patch);
          for (let layer = patch.layers; layer !== null; layer = layer.next) unlay(layer);
          patch.layers = null;
          setEach(patch.types, (type) => {
            if (type.isExposed || type.patch !== patch || layersOf(type) !== null) return;
            mapDelete(types, type.name);
            if (global[type.name] === type.target) deleteProperty(global, type.name);
          });
          setEach(patch.globals, (name) => { deleteProperty(global, name); });
          mapDelete(patches, id);
          return true;
        }
        """#
}
