#include <JavaScriptCore/JavaScript.h>

// What the library has and Debian ships no header for: WebKit's JSContextRefPrivate.h, JSHeapFinalizerPrivate.h and JSWeakPrivate.h.

/// Asked once `limit` seconds of the thread's time are used up. Whoever returns false sets the limit anew, or none is left.
typedef bool (*JSShouldTerminateCallback)(JSContextRef _Null_unspecified, void * _Null_unspecified);
extern void JSContextGroupSetExecutionTimeLimit(
    JSContextGroupRef _Nonnull, double limit, JSShouldTerminateCallback _Nullable, void * _Nullable);

/// Called after each collection of garbage; it may run no script.
typedef void (*JSHeapFinalizer)(JSContextGroupRef _Null_unspecified, void * _Null_unspecified);
extern void JSContextGroupAddHeapFinalizer(JSContextGroupRef _Nonnull, JSHeapFinalizer _Nonnull, void * _Nullable);

/// At once; JSGarbageCollect is no more than a hint.
extern void JSSynchronousGarbageCollectForDebugging(JSContextRef _Nonnull);

/// `function` is called with the promise and the reason.
extern void JSGlobalContextSetUnhandledRejectionCallback(
    JSGlobalContextRef _Nonnull, JSObjectRef _Nonnull function, JSValueRef _Nullable * _Nullable exception);

typedef struct OpaqueJSWeak *JSWeakRef;
extern JSWeakRef _Nullable JSWeakCreate(JSContextGroupRef _Nonnull, JSObjectRef _Nonnull);
/// The object, until it is collected.
extern JSObjectRef _Nullable JSWeakGetObject(JSWeakRef _Nonnull);
extern void JSWeakRelease(JSContextGroupRef _Nonnull, JSWeakRef _Nonnull);
