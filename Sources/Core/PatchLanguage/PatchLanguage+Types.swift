extension PatchLanguage {
    /// Classes and objects that can be patched, and the classes that patches define.
    static let types = #"""
        const types = new NewMap();
        /// By class: its own `name` may be a method.
        const typesOf = new NewWeakMap();

        /// The methods that every class of a host and of a script inherits.
        const root = create(null), rootStatics = create(Function.prototype);
        defineProperty(root, "init", hidden(function init() { return this; }, false));
        defineProperty(root, "super", hidden(function () { return superOf(this); }, false));
        defineProperty(root, "toString", hidden(function toString() { 
          const type = typeOf(this.constructor);
          return "[" + (type === undefined ? this.constructor.name : type.name) + "]";
         }, false));
        setPrototypeOf(root, Object.prototype);
        defineProperty(rootStatics, "super", hidden(function () { return superOf(this); }, false));
        defineProperty(rootStatics, "alloc", hidden(function alloc() { return allocated(this); }, false));

        /// The type of a class that is known here; undefined for all others.
        function typeOf(target) {
          const type = isObject(target) ? weakGet(typesOf, target) : undefined;
          return type !== undefined && type.target === target ? type : undefined;
        }

        /// Makes `target` known as `name`, and applies the methods that patches defined for that name before.
        function expose(name, target) {
          if (typeof name !== "string" || name === "") throw new NewTypeError("expose expects a name");
          if (!isObject(target)) throw new NewTypeError("expose expects an object or a class as " + name);
          const type = typeNamed(name), earlier = layersOf(type);
          for (let at = earlier; at !== null; at = at.next) unlay(at.layer);
          type.target = target;
          weakSet(typesOf, target, type);
          type.isExposed = true;
          type.patch = null;
          type.awaits = undefined;
          const isClass = isFunction(target) && isObject(target.prototype);
          type.statics = siteOf(type, target, true);
          type.instances = isClass ? siteOf(type, target.prototype, false) : type.statics;
          for (let at = earlier; at !== null; at = at.next) {
            const { patch, slot, body } = at.layer;
            forget(at.layer);
            try {
              lay(patch, slot.site.isStatic ? type.statics : type.instances, slot.name, body);
            } catch (error) {
              // The caller that exposes must not fail because of a patch.
              if (environment.failed === undefined) throw error;
              environment.failed(patch.id, error);
            }
          }
          heirsOf(type);
          return target;
        }

        /// Gives the classes that wait for this one their parent.
        function heirsOf({ name, target }) {
          mapEach(types, (other) => { if (other.awaits === name) inherit(other, target); });
        }

        /// Gives a patch's class the declared parent, which was exposed later.
        function inherit(type, parent) {
          if (!isFunction(parent)) {
            const error = new NewReferenceError(type.name + ": its parent " + type.awaits + " is not a class");
            if (environment.failed === undefined) throw error;
            environment.failed(type.patch.id, error);
            return;
          }
          type.awaits = undefined;
          setPrototypeOf(type.target, parent);
          setPrototypeOf(type.target.prototype, parent.prototype);
          giveSuper(type.target);
          giveSuper(type.target.prototype);
        }

        /// Takes a layer out of its patch's list.
        function forget(layer) {
          const { patch } = layer;
          if (patch.layers === layer) { patch.layers = layer.next; return; }
          for (let at = patch.layers; at !== null; at = at.next)
            if (at.next === layer) { at.next = layer.next; return; }
        }

        /// All layers on a type, the lowest first.
        function layersOf(type) {
          let list = null;
          const take = (slot) => {
            for (let layer = slot.top; layer !== null; layer = layer.below) list = { __proto__: null, layer, next: list };
          };
          if (type.instances !== null) mapEach(type.instances.slots, take);
          if (type.statics !== null && type.statics !== type.instances) mapEach(type.statics.slots, take);
          return list;
        }

        function typeNamed(name) {
          let type = mapGet(types, name);
          if (type === undefined) {
            type = { __proto__: null, name, target: null, instances: null, statics: null, isExposed: false, patch: null,
              awaits: undefined };
            mapSet(types, name, type);
          }
          return type;
        }

        /// A type of a Swift host: `make` is its constructor, if it has one.
        function hostType(name, parentName, make, methods, statics) {
          const target = function (...list) {
            if (make === undefined) throw new NewTypeError(name + " cannot be made by a script: its host gives it no constructor");
            return apply(make, undefined, list);
          };
          const parent = parentName === undefined ? undefined : mapGet(types, parentName).target;
          setUp(target, name, parent);
          fill(target.prototype, methods);
          fill(target, statics);
          return expose(name, target);
        }

        function setUp(target, name, parent) {
          inheritMethod(target, "name", name);
          inheritMethod(target, "length", 0);
          setPrototypeOf(target, parent === undefined ? rootStatics : parent);
          setPrototypeOf(target.prototype, parent === undefined ? root : parent.prototype);
        }

        /// A function has these itself, and hides a method of its parent by them.
        function inheritMethod(target, key, own) {
          defineProperty(target, key, {
            __proto__: null, enumerable: false, configurable: true,
            get() {
              const above = getPrototypeOf(target), value = above === null ? undefined : get(above, key, this);
              return isFunction(value) ? value : own;
            },
          });
        }

        function fill(target, methods) {
          const names = ownKeys(methods);
          for (let at = 0; at < names.length; at += 1) defineProperty(target, names[at], shown(methods[names[at]], false));
        }

        /// A class that is a patch's own.
        function scriptType(patch, name, parentName) {
          let parent, awaits;
          if (parentName !== undefined) {
            const known = mapGet(types, parentName);
            if (known !== undefined && isFunction(known.target)) parent = known.target;
            // A page may expose the parent later.
            else if (environment.waits && (known === undefined || known.target === null)) awaits = parentName;
            else throw new NewReferenceError(name + ": its parent " + parentName + " is not a known class");
          }
          const target = function (...list) {
            if (typeNamed(name).awaits !== undefined)
              throw new NewReferenceError(name + ": its parent " + parentName + " is not exposed yet");
            const object = allocated(target);
            return isFunction(object.init) ? apply(object.init, object, list) : object;
          };
          setUp(target, name, parent);
          const type = typeNamed(name);
          type.target = target;
          weakSet(typesOf, target, type);
          type.patch = patch;
          type.awaits = awaits;
          type.statics = siteOf(type, target, true);
          type.instances = siteOf(type, target.prototype, false);
          setAdd(patch.types, type);
          heirsOf(type);
          return type;
        }

        /// A new object before its `init`; one of the host is made by the `init…` that follows.
        function allocated(target) {
          const type = typeOf(target);
          if (type !== undefined && type.isExposed) {
            const begin = (_, name) => indexOf(textOf(name), "init") === 0 ? (...list) => construct(target, list) : undefined;
            return new NewProxy(create(null), { __proto__: null, get: begin });
          }
          for (let at = getPrototypeOf(target); isFunction(at); at = getPrototypeOf(at)) {
            const above = typeOf(at);
            if (above === undefined || !above.isExposed) continue;
            const object = construct(at, []);
            setPrototypeOf(object, target.prototype);
            return object;
          }
          return create(target.prototype);
        }

        /// An object as an instance of the class above that of the running method.
        function superOf(object) {
          let from = isFunction(object) ? object : getPrototypeOf(object);
          const slot = running === null ? null : running.slot;
          if (slot !== null && isAbove(slot.site.target, object)) from = slot.site.target;
          const above = getPrototypeOf(from);
          return new NewProxy(create(null), {
            __proto__: null,
            get(_, name) {
              const value = above === null ? undefined : get(above, name, object);
              return isFunction(value) ? (...list) => apply(value, object, list) : value;
            },
          });
        }
        """#
}
