extension PatchLanguage {
    /// The built-ins as they were before any patch ran.
    ///
    /// Three rules protect them: the language's own objects have no prototype (`bare`), lists are iterated by index, and string
    /// methods that call back into their argument are avoided.
    static let primordials = #"""
        const { apply, construct, defineProperty, deleteProperty, get, getOwnPropertyDescriptor, getPrototypeOf, ownKeys,
          setPrototypeOf } = Reflect;
        const unbound = Function.prototype.bind.bind(Function.prototype.call);
        const { create, freeze, is, keys, values } = Object;
        const NewPromise = Promise, promiseOf = Promise.resolve, then = Promise.prototype.then;
        const NewMap = Map, NewSet = Set, NewWeakMap = WeakMap, NewProxy = Proxy;
        const NewError = Error, NewTypeError = TypeError, NewReferenceError = ReferenceError;
        const textOf = String, jsonOf = JSON.stringify;
        const mapGet = unbound(Map.prototype.get), mapSet = unbound(Map.prototype.set);
        const mapDelete = unbound(Map.prototype.delete), mapEach = unbound(Map.prototype.forEach);
        const setAdd = unbound(Set.prototype.add), setHas = unbound(Set.prototype.has);
        const setEach = unbound(Set.prototype.forEach), setDelete = unbound(Set.prototype.delete);
        const weakGet = unbound(WeakMap.prototype.get), weakSet = unbound(WeakMap.prototype.set);
        const slice = unbound(String.prototype.slice), indexOf = unbound(String.prototype.indexOf);
        const trim = unbound(String.prototype.trim), upperCase = unbound(String.prototype.toUpperCase);
        const hasOwn = unbound(Object.prototype.hasOwnProperty), isList = Array.isArray;
        const isFunction = (value) => typeof value === "function";
        const isObject = (value) => isFunction(value) || (typeof value === "object" && value !== null);

        /// A property as we define it: found by name, not listed.
        const hidden = (value, writable) => ({ __proto__: null, value, writable, enumerable: false, configurable: true });
        const shown = (value, writable) => ({ __proto__: null, value, writable, enumerable: true, configurable: true });

        /// The parts of a text between separators, without blanks around them.
        function partsOf(text, separator, take) {
          let from = 0;
          for (;;) {
            const end = indexOf(text, separator, from);
            const part = trim(end < 0 ? slice(text, from) : slice(text, from, end));
            if (part !== "") take(part);
            if (end < 0) return;
            from = end + separator.length;
          }
        }
        """#
}
