extension PatchLanguage {
    /// Methods, and the layers that patches put over them.
    ///
    /// ```
    /// slot CartController.total ── top ──▶ layer of patch 2 ── below ──▶ layer of patch 1 ── below ──▶ null: the original
    /// ```
    ///
    /// The position of a layer follows its patch's position in the list, independently of the time at which it is added.
    /// `ORIGtotal` calls the layer below that of the calling patch. Callers without a layer get the original.
    static let layers = #"""
        /// Where methods are: an object, a class or its prototype.
        const siteOf = (type, target, isStatic) => ({ __proto__: null, type, target, isStatic, slots: new NewMap() });

        function slotOf(site, name) {
          let slot = mapGet(site.slots, name);
          if (slot === undefined) {
            slot = { __proto__: null, site, name, top: null, own: getOwnPropertyDescriptor(site.target, name) };
            mapSet(site.slots, name, slot);
          }
          return slot;
        }

        /// The wording of a method's name in messages.
        const nameOf = (slot) => slot.site.type.name + "." + slot.name;

        /// Puts `body` over a method. A later one of the same patch replaces the earlier.
        function lay(patch, site, name, body) {
          const slot = slotOf(site, name);
          let above = null, at = slot.top;
          while (at !== null && at.patch.order > patch.order) {
            above = at;
            at = at.below;
          }
          if (at !== null && at.patch === patch) {
            at.body = body;
            return;
          }
          const layer = { __proto__: null, slot, patch, body, below: at, next: patch.layers, call: undefined };
          layer.call = function (...list) { return enter(layer, this, this, layer.body, list); };
          defineProperty(layer.call, "name", hidden(name, false));
          patch.layers = layer;
          if (above === null) slot.top = layer; else above.below = layer;
          if (above === null) show(slot);
        }

        function unlay(layer) {
          const slot = layer.slot;
          let above = null;
          for (let at = slot.top; at !== null && at !== layer; at = at.below) above = at;
          if (above !== null) {
            above.below = layer.below;
          } else if (slot.top === layer) {
            slot.top = layer.below;
            show(slot);
          }
        }

        /// A page's own objects have no `super` until a patch may need one.
        function giveSuper(target) {
          if (isFunction(target.super)) return;
          defineProperty(target, "super", hidden(function () { return superOf(this); }, true));
        }

        /// Puts the top layer, or the original, where callers find it.
        function show(slot) {
          const { site: { target, type, isStatic }, name, top } = slot, original = "ORIG" + name;
          let isDone = true;
          if (top === null) {
            isDone = slot.own === undefined ? deleteProperty(target, name) : defineProperty(target, name, slot.own);
            deleteProperty(target, original);
          } else {
            giveSuper(target);
            isDone = defineProperty(target, name, shown(top.call, !environment.fixed));
            defineProperty(target, original, {
              __proto__: null, enumerable: false, configurable: true,
              get() { return originalOf(slot, this); },
            });
          }
          if (!isDone) throw new NewTypeError(nameOf(slot) + " cannot be replaced: its object is frozen");
          if (type.isExposed) environment.changed(
              type.name, isStatic, name, top === null ? undefined : top.call, top === null ? undefined : top.patch.id);
        }

        /// The value of `ORIGname` for the running patch.
        function originalOf(found, object) {
          const patch = running === null ? null : running.patch;
          // A method that was called as super has its own original, not that of the class below it.
          const called = running === null ? null : running.slot;
          const isSame = called !== null && called.name === found.name && isAbove(called.site.target, object);
          const slot = isSame ? called : found;
          let at = patch === null ? null : slot.top;
          while (at !== null && at.patch !== patch) at = at.below;
          const below = at === null ? null : at.below;
          return function (...list) {
            if (below !== null) return enter(below, object, object, below.body, list);
            return enter(outside, undefined, object, ownBody(slot, object), list);
          };
        }

        function isAbove(target, object) {
          for (let at = object; at !== null; at = getPrototypeOf(at)) if (at === target) return true;
          return false;
        }

        /// A method without any patch: its own, or the one that it had inherited.
        function ownBody(slot, object) {
          const { own, name, site: { target } } = slot;
          let body;
          if (own === undefined) body = get(getPrototypeOf(target), name, object);
          else body = hasOwn(own, "value") ? own.value : apply(own.get, object, []);
          if (!isFunction(body)) throw new NewTypeError(nameOf(slot) + " has no original");
          return body;
        }
        """#
}
