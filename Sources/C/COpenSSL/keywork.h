// How much work the passphrase of an encrypted private key is put through, read before anybody does that work.
#ifndef COPENSSL_KEYWORK_H
#define COPENSSL_KEYWORK_H

#include <openssl/asn1t.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <stdint.h>

/// `iterations` of a hash, or scrypt's cost, block size and parallelization; UINT64_MAX for what is no such number.
typedef struct {
    uint64_t iterations;
    uint64_t cost;
    uint64_t block;
    uint64_t parallel;
} patchline_key_work;

static inline uint64_t patchline_number(const ASN1_INTEGER *number) {
    uint64_t value = 0;
    if (number == NULL || ASN1_INTEGER_get_uint64(&value, number) != 1) return UINT64_MAX;
    return value;
}

/// What the derivation `algorithm` asks for; nothing where libcrypto knows no such derivation, and so does none.
static inline void patchline_add_derivation(const X509_ALGOR *algorithm, patchline_key_work *work) {
    const ASN1_OBJECT *object = NULL;
    const void *value = NULL;
    int type = V_ASN1_UNDEF;
    X509_ALGOR_get0(&object, &type, &value, algorithm);
    if (type != V_ASN1_SEQUENCE) return;
    switch (OBJ_obj2nid(object)) {
    case NID_pbes2: {
        PBE2PARAM *both = ASN1_item_unpack((const ASN1_STRING *)value, ASN1_ITEM_rptr(PBE2PARAM));
        if (both == NULL) return;
        int inner = OBJ_obj2nid(both->keyfunc->algorithm);
        if (inner == NID_id_pbkdf2 || inner == NID_id_scrypt) patchline_add_derivation(both->keyfunc, work);
        PBE2PARAM_free(both);
        return;
    }
    case NID_id_pbkdf2: {
        PBKDF2PARAM *parameters = ASN1_item_unpack((const ASN1_STRING *)value, ASN1_ITEM_rptr(PBKDF2PARAM));
        if (parameters == NULL) return;
        work->iterations = patchline_number(parameters->iter);
        PBKDF2PARAM_free(parameters);
        return;
    }
    case NID_id_scrypt: {
        SCRYPT_PARAMS *parameters = ASN1_item_unpack((const ASN1_STRING *)value, ASN1_ITEM_rptr(SCRYPT_PARAMS));
        if (parameters == NULL) return;
        work->cost = patchline_number(parameters->costParameter);
        work->block = patchline_number(parameters->blockSize);
        work->parallel = patchline_number(parameters->parallelizationParameter);
        SCRYPT_PARAMS_free(parameters);
        return;
    }
    default: {
        // The derivations of PKCS#5 1.5 and PKCS#12.
        PBEPARAM *parameters = ASN1_item_unpack((const ASN1_STRING *)value, ASN1_ITEM_rptr(PBEPARAM));
        if (parameters == NULL) return;
        work->iterations = patchline_number(parameters->iter);
        PBEPARAM_free(parameters);
        return;
    }
    }
}

/// Reads it of the DER of one PEM block; zeros for what is no encrypted PKCS#8.
static inline patchline_key_work patchline_work_of_key(const unsigned char *der, long length) {
    patchline_key_work work = {0, 0, 0, 0};
    const X509_ALGOR *algorithm = NULL;
    X509_SIG *encrypted = d2i_X509_SIG(NULL, &der, length);
    if (encrypted != NULL) {
        X509_SIG_get0(encrypted, &algorithm, NULL);
        patchline_add_derivation(algorithm, &work);
        X509_SIG_free(encrypted);
    }
    ERR_clear_error();
    return work;
}

#endif
