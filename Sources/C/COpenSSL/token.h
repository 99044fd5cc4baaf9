// Keys on PKCS#11 tokens, through the engine "pkcs11" (Debian: libengine-pkcs11-openssl), which is loaded at run time.
#ifndef COPENSSL_TOKEN_H
#define COPENSSL_TOKEN_H

#include <dlfcn.h>
#include <openssl/crypto.h>
#include <openssl/engine.h>
#include <openssl/ui.h>
#include <stdlib.h>
#include <string.h>

/// An engine for one PKCS#11 module, not shared with any other module; NULL when there is no engine "pkcs11".
static inline ENGINE *patchline_token_engine(const char *module) {
    const char *given = getenv("OPENSSL_ENGINES");
    ENGINE *engine = ENGINE_by_id("dynamic");
    if (engine == NULL) return NULL;
    if (ENGINE_ctrl_cmd_string(engine, "ID", "pkcs11", 0) == 1 &&
        ENGINE_ctrl_cmd_string(engine, "DIR_LOAD", "2", 0) == 1 &&
        ENGINE_ctrl_cmd_string(engine, "DIR_ADD", given ? given : OPENSSL_info(OPENSSL_INFO_ENGINES_DIR), 0) == 1 &&
        ENGINE_ctrl_cmd_string(engine, "LIST_ADD", "0", 0) == 1 &&
        ENGINE_ctrl_cmd_string(engine, "LOAD", NULL, 0) == 1 &&
        ENGINE_ctrl_cmd_string(engine, "QUIET", NULL, 0) == 1 &&
        ENGINE_ctrl_cmd_string(engine, "MODULE_PATH", module, 0) == 1 &&
        ENGINE_init(engine) == 1)
        return engine;
    ENGINE_free(engine);
    return NULL;
}

/// The key's private half stays on the token. UI_null: the engine must not ask at the terminal by itself.
static inline EVP_PKEY *patchline_token_private_key(ENGINE *engine, const char *uri, const char *pin) {
    if (ENGINE_ctrl_cmd_string(engine, "PIN", pin, 0) != 1) return NULL;
    return ENGINE_load_private_key(engine, uri, (UI_METHOD *)UI_null(), NULL);
}

/// Needs no PIN where the token shows its public objects.
static inline EVP_PKEY *patchline_token_public_key(ENGINE *engine, const char *uri) {
    return ENGINE_load_public_key(engine, uri, (UI_METHOD *)UI_null(), NULL);
}

/// Whether the file is a PKCS#11 module at all. It stays loaded, as the engine keeps it too.
static inline int patchline_token_is_module(const char *module) {
    void *library = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    return library != NULL && dlsym(library, "C_GetFunctionList") != NULL;
}

/// The labels of the tokens that a module sees, each 32 bytes padded with spaces, as PKCS#11 2.40 has them; how many.
static inline int patchline_token_labels(const char *module, char *labels, int most) {
    typedef unsigned long (*function)();
    struct { unsigned char version[2]; function functions[8]; } *list = NULL;
    enum { initialize = 0, slot_list = 4, token_info = 6, already_initialized = 0x191 };
    void *library = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    unsigned long (*get)(void *) = library ? (unsigned long (*)(void *))dlsym(library, "C_GetFunctionList") : NULL;
    if (get == NULL || get(&list) != 0 || list == NULL) return 0;
    unsigned long result = ((unsigned long (*)(void *))list->functions[initialize])(NULL);
    if (result != 0 && result != already_initialized) return 0;
    unsigned long slots[64], count = 64;
    if (((unsigned long (*)(unsigned char, unsigned long *, unsigned long *))list->functions[slot_list])(
            1, slots, &count) != 0)
        return 0;
    int found = 0;
    for (unsigned long slot = 0; slot < count && found < most; slot++) {
        // CK_TOKEN_INFO begins with the label and has 208 bytes.
        unsigned char info[512] = {0};
        if (((unsigned long (*)(unsigned long, void *))list->functions[token_info])(slots[slot], info) != 0) continue;
        memcpy(labels + 32 * found++, info, 32);
    }
    return found;
}

#endif
