// libcrypto 3 as a Clang module: digests, RSA keys, PEM, signatures, tokens.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "keywork.h"
#include "token.h"

// Only the first call of the process has this effect, so nothing of libcrypto may be used before.
static inline void patchline_outlive_exit(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

#endif
